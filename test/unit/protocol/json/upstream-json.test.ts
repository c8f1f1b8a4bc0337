import { expect, it } from 'vitest';
import { JSON_NAME_BYTES_MAX } from '../../../../src/protocol/json/json-place.ts';
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
