import { expect, it } from 'vitest';
import { readRequest } from '../../../src/gateway/read-request.ts';
import { nativeFormat } from '../../../src/protocol/native/native-format.ts';
import { NATIVE_DIALECT } from '../../../src/upstream/upstream-dialect.ts';

const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);
const TOOL =
  '{"type":"web_search_20250305","type":"custom","name":"a","input_schema":{"type":"object"}}';
const say = (text: string) => `{"role":"user","content":"${text}"}`;

it.each([
  ['small', say('Hi')],
  ['large, of short texts', Array(900).fill(say('Hi')).join()],
  ['large, of a long text', say('a'.repeat(20_000))],
])('a name that stands twice in a tool is sent once, in a body that is %s', (_, messages) => {
  const text = `{"model":"opus","max_tokens":5,"messages":[${messages}],"tools":[${TOOL}]}`;
  const { request, readWhole, source } = readRequest(Buffer.from(text), nativeFormat, header, true);
  const call = { request, readWhole, source, isStream: false, outputTokensMax: 5 };
  const sent = String(NATIVE_DIALECT.encodeRequest(call, 'sold', undefined));
  expect(sent).toContain('"type":"custom"');
  expect(sent).not.toContain('web_search');
});
