import { describe, expect, it } from 'vitest';
import { cutAtChoices } from '../../../../../src/protocol/chat/answers/cut-at-choices.ts';

const encode = (text: string) => new TextEncoder().encode(text);

function cut(frame: string): string | undefined {
  const rest = cutAtChoices(encode(frame));
  return rest === undefined ? undefined : new TextDecoder().decode(rest);
}

describe('a chunk cut at its choices', () => {
  it.each([
    ['data: {"id":"x","choices":[1]}\n\n', '[1]}\n\n'],
    ['data:{"choices": [1]}\n\n', ' [1]}\n\n'],
    ['data: {"id":"\\"choices\\":","choices":[{"choices":2}]}\n\n', '[{"choices":2}]}\n\n'],
    ['data: {"a":"ö","choices":[],"b":{}}\n\n', '[],"b":{}}\n\n'],
  ])('leaves what follows: %j', (frame, rest) => {
    expect(cut(frame)).toBe(rest);
  });

  it.each([
    'data: {"a":{"choices":1},"choices":[2]}\n\n',
    'data: {"a":[],"choices":[2]}\n\n',
    'data: {"a":"{","choices":[2]}\n\n',
    'data: {"choices" :[2]}\n\n',
    'data: {"id":"x"}\n\n',
    'data: {"id":1,\ndata: "choices":[2]}\n\n',
    'data: {"id":1,\r: "choices":[\rdata: "choices":[2]}\n\n',
    'data: {"choices":\ndata: [2]}\n\n',
    'data: {"choices":[2]}\r\r',
    'data: {"choices":[2]}\n\r',
    'event: x\ndata: {"choices":[2]}\n\n',
    ': "choices":[{}]\ndata: {"choices":[2]}\n\n',
    ':longer{"choices":[2]}\n\n',
    '',
  ])('is left to a parser where it is not plain: %j', (frame) => {
    expect(cut(frame)).toBeUndefined();
  });
});
