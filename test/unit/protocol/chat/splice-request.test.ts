import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeChatRequest } from '../../../../src/protocol/chat/encode-request.ts';
import { chatFormat } from '../../../../src/protocol/chat/index.ts';
import { spliceChatRequest } from '../../../../src/protocol/chat/splice-request.ts';
import { readJsonBody } from '../../../../src/protocol/parse-json-body.ts';
import type { UpstreamCall } from '../../../../src/protocol/upstream-call.ts';
import { shuffle, strangeFields, texts, writeJson, writings } from '../written-bodies.ts';

const FUZZ_TIME_MS = 4_000;

function callOfText(body: string, fields: Partial<UpstreamCall> = {}): UpstreamCall {
  const source = readJsonBody(new TextEncoder().encode(body));
  const { request } = chatFormat.decodeRequest(source.value, () => undefined);
  return { request, outputTokensMax: 77, isStream: request.isStream, source, ...fields };
}

const splice = (call: UpstreamCall) =>
  spliceChatRequest(call, 'vendor-"ö"', 'max_tokens')?.toString('utf8');
const encode = (call: UpstreamCall) =>
  JSON.parse(encodeChatRequest(call, 'vendor-"ö"', 'max_tokens'));

const orNull = <Value>(value: Value) => fc.constantFrom(value, null);
const look = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
const message = fc.record({
  role: fc.constantFrom('user', 'assistant', 'user', 'assistant', 'system', 'developer'),
  content: fc.oneof({ weight: 9, arbitrary: texts }, fc.constant('\n ')),
});
const messages = fc
  .tuple(texts, fc.array(message, { maxLength: 3 }), fc.constantFrom('user', 'system'))
  .map(([first, others, role]) => [
    { role, content: first },
    { role: 'user', content: 'Hi' },
    ...others,
  ]);
const bodies = fc
  .record(
    {
      model: fc.constantFrom('sonnet', 'mödel'),
      messages,
      max_tokens: orNull(9),
      max_completion_tokens: orNull(8),
      temperature: fc.constantFrom(1.7, 0, null),
      top_p: orNull(0.5),
      n: orNull(1),
      stop: fc.constantFrom('"', ['a', ' '], [' '], null),
      stream: fc.constantFrom(true, false, null),
      stream_options: orNull({ include_usage: false }),
      tools: fc.constantFrom([look], [], null),
      parallel_tool_calls: orNull(false),
      response_format: fc.constantFrom({ type: 'json_object' }, { type: 'text' }, null),
      user: fc.constantFrom('someone', '', 'x'.repeat(99), null),
      safety_identifier: orNull('else'),
      seed: orNull(4),
      store: orNull(true),
      reasoning_effort: orNull('high'),
    },
    { requiredKeys: ['model', 'messages'] },
  )
  .chain((known) => strangeFields.map((strange) => ({ ...strange, ...known })))
  .chain(shuffle);

describe('a chat body on its way to a chat upstream', () => {
  it('says what it would say if it were written anew', () => {
    fc.assert(
      fc.property(bodies, writings, (body, writing) => {
        const call = callOfText(writeJson(body, writing));
        const spliced = splice(call);
        if (spliced !== undefined) expect(JSON.parse(spliced)).toEqual(encode(call));
      }),
      { numRuns: 5_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
  });

  it('keeps the bytes of its messages, and loses what nobody asked an upstream for', () => {
    const kept = '"messages" : [ {"content":"\\u0041\\/","role":"user"}],"seed":1e1';
    expect(splice(callOfText(`{"n":1,"model":"sonnet",${kept},"user":"me","stream":true}`))).toBe(
      `{"model":"vendor-\\"ö\\"","max_tokens":77,"stream":true,"stream_options":{"include_usage":true},"user":"me",${kept}}`,
    );
  });

  const body = (...said: readonly unknown[]) => ({ model: 'sonnet', messages: said });
  const hi = { role: 'user', content: 'Hi' };
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"a": 1}' } };
  const cases: readonly [string, unknown][] = [
    ['a message has parts', body({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })],
    ['a message has a name', body({ ...hi, name: 'me' })],
    ['a tool is called', body(hi, { role: 'assistant', content: null, tool_calls: [call] })],
    ['a message is blank', body(hi, { role: 'user', content: ' ' })],
    ['it is instructed late', body(hi, { role: 'system', content: 'Be brief.' })],
    ['a developer instructs it', body({ role: 'developer', content: 'Be brief.' }, hi)],
  ];
  for (const [name, value] of cases) {
    it(`is written anew where ${name}`, () => {
      expect(splice(callOfText(JSON.stringify(value)))).toBeUndefined();
    });
  }

  it('is written anew where a name stands twice', () => {
    const { messages: said } = body(hi);
    const text = `{"model":"sonnet","seed":1,"seed":2,"messages":${JSON.stringify(said)}}`;
    expect(splice(callOfText(text))).toBeUndefined();
  });
});
