import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tallyDeltas } from '../../../../src/protocol/answers/count-content-bytes.ts';
import { outlineAnswer } from '../../../../src/protocol/answers/outline-answer.ts';
import {
  decodeNativeAnswer,
  relayNativeAnswer,
} from '../../../../src/protocol/native/answers/decode-answer.ts';
import { attempt, shuffle, strangeFields, texts, writeJson, writings } from '../written-bodies.ts';

const FUZZ_TIME_MS = 4_000;
const MODEL = 'llm-"pinned"';

const relay = (body: string) => relayNativeAnswer(Buffer.from(body), MODEL);
const textOf = (body: string) => {
  const { events, closing } = relay(body);
  const finish = events.at(-1);
  if (finish?.type !== 'finish' || finish.usage === undefined) throw new Error('it has no usage');
  return Buffer.from(closing?.(finish.usage) ?? []).toString('utf8');
};

const block = fc.oneof(
  texts.map((text) => ({ type: 'text', text })),
  fc.constantFrom<unknown>(
    { type: 'text', text: '' },
    { type: 'thinking', thinking: 'Hm…', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'x' },
    { type: 'tool_use', id: 'a', name: 'look', input: { where: 'ö', model: 'm' } },
    { type: 'tool_use', id: 'b', name: 'look', input: {} },
    { type: 'tool_use', id: 'c' },
    { type: 'of_tomorrow', text: 'Not counted' },
    null,
  ),
);
const answers = fc
  .record(
    {
      id: fc.constant('msg_1'),
      type: fc.constantFrom('message', 'message', 'message', 'error'),
      model: fc.constantFrom<unknown>('vendor', 'vendor', 'mödel', MODEL, 7),
      content: fc.array(block, { maxLength: 4 }),
      stop_reason: fc.constantFrom('end_turn', 'tool_use', null),
      usage: fc.constantFrom<unknown>({ input_tokens: 3, output_tokens: 4 }, {}, null),
    },
    { requiredKeys: ['id', 'model', 'content', 'usage'] },
  )
  .chain((known) => strangeFields.map((strange) => ({ ...strange, ...known })))
  .chain(shuffle);

describe('a whole native answer for a native client', () => {
  it('is the same with another model, and is counted as it is where it is written anew', () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(answers, writings, (answer, writing) => {
        const body = writeJson(answer, writing);
        const relayed = attempt(() => relay(body));
        const decoded = attempt(() => decodeNativeAnswer(body));
        if (typeof relayed === 'string' || typeof decoded === 'string') {
          expect(relayed).toEqual(decoded);
          outcomes.add('refused');
        } else if (relayed.closing === undefined) {
          expect(relayed.events).toEqual(decoded);
          outcomes.add('written anew');
        } else {
          const { contentBytes } = tallyDeltas(decoded);
          const outline = outlineAnswer(decoded);
          expect(relayed.contentBytes).toBe(contentBytes);
          expect([relayed.events[0], relayed.events.at(-1)]).toEqual([outline[0], outline.at(-1)]);
          expect(relayed.events.map(({ type }) => type)).toEqual(outline.map(({ type }) => type));
          expect(JSON.parse(textOf(body))).toEqual({ ...JSON.parse(body), model: MODEL });
          outcomes.add('relayed');
        }
      }),
      { numRuns: 5_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
    expect([...outcomes].sort()).toEqual(['refused', 'relayed', 'written anew']);
  });

  const USAGE = '"usage":{"input_tokens":1,"output_tokens":1}';

  it('keeps its bytes but for those of the name', () => {
    const rest = `,"content" : [{"type":"text","text":"\\u0041","model":"nested"}],\n${USAGE},"n":1e3 }\n`;
    expect(textOf(`{"id":"msg_1", "model" : "vendor"${rest}`)).toBe(
      `{"id":"msg_1", "model" :"llm-\\"pinned\\""${rest}`,
    );
  });

  it.each([
    ['stands twice', '"model":"vendor","model":"evil"'],
    ['stands twice, once with an escape', '"model":"vendor","mod\\u0065l":"evil"'],
    ['has an escape', '"mod\\u0065l":"evil"'],
  ])('has one name where that %s', (_name, model) => {
    const text = textOf(`{"id":"msg_1",${model},"content":[],${USAGE}}`);
    expect(text).not.toContain('evil');
    expect(JSON.parse(text)).toMatchObject({ id: 'msg_1', model: MODEL, content: [] });
  });

  it('is too large where it is nested beyond the bound', () => {
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
    const body = `{"id":"msg_1","model":"vendor","content":[],${USAGE},"deep":${deep}}`;
    expect(attempt(() => relay(body))).toContain('it is nested too deeply');
  });
});
