import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDirectives } from '../../../src/upstream/simulated/parse-directives.ts';

const NONE = {
  error: undefined,
  tools: [],
  textTokens: undefined,
  tokenDelayMs: undefined,
  latencyMs: undefined,
  isThinking: false,
};

describe('parseDirectives', () => {
  it.each([
    ['[[error 529]]', { error: { status: 529, afterTokens: undefined, isAskedFor: true } }],
    ['[[error 429 after 3]]', { error: { status: 429, afterTokens: 3, isAskedFor: true } }],
    ['[[tool get_weather]]', { tools: [{ name: 'get_weather', input: undefined }] }],
    [
      '[[tool a {"b": [[1]], "c": "]] }"}]]',
      { tools: [{ name: 'a', input: { b: [[1]], c: ']] }' } }] },
    ],
    ['[[tokens 200]]', { textTokens: 200 }],
    ['[[slow 50]]', { tokenDelayMs: 50 }],
    ['[[latency 0]]', { latencyMs: 0 }],
    ['[[thinking]]', { isThinking: true }],
    ['Now [[slow 1]], then\n[[tokens 2]] and [[tokens 3]].', { tokenDelayMs: 1, textTokens: 3 }],
  ])('reads %s', (text, directives) => {
    expect(parseDirectives(text)).toEqual({ ...NONE, ...directives });
  });

  it.each([
    '[[error]]',
    '[[error 200]]',
    '[[error handling]]',
    '[[error 529 after]]',
    '[[tool]]',
    '[[tool a b]]',
    '[[tool a {"b": 1]]',
    '[[tool a {b: 1}]]',
    '[[tool a {"b": 1}',
    '[[tokens -1]]',
    '[[tokens 1e3]]',
    '[[tokens 12345678]]',
    '[[Thinking]]',
    '[ [thinking]]',
    '[[wiki link]]',
  ])('leaves %s alone', (text) => {
    expect(parseDirectives(text)).toEqual(NONE);
  });

  it('takes any text without harm, however long', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[[', 'tool a {', '"', '\\', '}', ']]', 'error 429', ' ', '\0')),
        (pieces) => {
          expect(() => parseDirectives(pieces.join(''))).not.toThrow();
        },
      ),
    );
    // A reader that came back to each bracket would not end within this test.
    expect(() => parseDirectives('[[tool a {"'.repeat(1_000_000))).not.toThrow();
  });
});
