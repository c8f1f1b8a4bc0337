import { expect, it } from 'vitest';
import { ANSWER_PARTS_MAX, JSON_NAME_BYTES_MAX } from '../../../../src/protocol/json/json-place.ts';
import {
  parseUpstreamJson,
  readUpstreamBody,
} from '../../../../src/protocol/json/upstream-json.ts';

it('an answer with a name that is longer than any may be is refused before it is parsed', () => {
  const write = (bytes: number) => JSON.stringify({ a: [{ ['n'.repeat(bytes)]: 1 }] });
  for (const read of [parseUpstreamJson, (text: string) => readUpstreamBody(Buffer.from(text))]) {
    expect(() => read(write(JSON_NAME_BYTES_MAX))).not.toThrow();
    expect(() => read(write(JSON_NAME_BYTES_MAX + 1))).toThrow('it has a name that is too long');
  }
});

it('an answer with more lists, objects and members than are read is refused before it is parsed', () => {
  // Not valid JSON.
  const text = `{"a":[${'{},'.repeat(ANSWER_PARTS_MAX)}`;
  for (const read of [parseUpstreamJson, (json: string) => readUpstreamBody(Buffer.from(json))]) {
    expect(() => read(text)).toThrow('it has too many lists, objects and members');
  }
});
