import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import { spliceChatRequest } from '../../../../../src/protocol/chat/requests/splice-request.ts';
import { readJsonBody } from '../../../../../src/protocol/json/parse-json-body.ts';
import type { UpstreamCall } from '../../../../../src/protocol/upstream-call.ts';
import {
  joinPieces,
  shuffle,
  strangeFields,
  texts,
  writeJson,
  writings,
} from '../../written-bodies.ts';

const FUZZ_TIME_MS = 4_000;

function callOfText(body: string, fields: Partial<UpstreamCall> = {}): UpstreamCall {
  const source = readJsonBody(new TextEncoder().encode(body));
  const { request } = chatFormat.decodeRequest(source.value, () => undefined);
  return { request, outputTokensMax: 77, isStream: request.isStream, source, ...fields };
}

const splice = (call: UpstreamCall) =>
  joinPieces(spliceChatRequest(call, 'vendor-"ö"', 'max_tokens'));

type Json = Readonly<Record<string, unknown>>;

const OF_THE_GATEWAY = ['model', 'max_tokens', 'max_completion_tokens', 'stream', 'stream_options'];
const KNOWN = new Set([
  ...['top_p', 'n', 'stop', 'tools', 'parallel_tool_calls', 'response_format', 'user', 'seed'],
  ...['safety_identifier', 'reasoning_effort', 'top_k', 'min_p', 'service_tier', 'temperature'],
]);
const DROPPED = ['store', 'prediction', 'maxTokens'];

/** Everything in a body that has a meaning, and the fields that the gateway sets. */
function expectSent(body: Json): Json {
  const { stream: asked, stream_options: options } = body;
  const isStream = asked === true;
  const hasTools = Array.isArray(body['tools']) && body['tools'].length > 0;
  const others = Object.entries(body).filter(([name, value]) => {
    if (OF_THE_GATEWAY.includes(name) || DROPPED.includes(name)) return false;
    if (name === 'parallel_tool_calls' && !hasTools) return false;
    return !KNOWN.has(name) || (value !== null && !(Array.isArray(value) && value.length === 0));
  });
  return {
    ...Object.fromEntries(others),
    model: 'vendor-"ö"',
    max_tokens: 77,
    stream: isStream,
    ...(isStream && { stream_options: { ...(options as Json | null), include_usage: true } }),
  };
}

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
      stream_options: orNull({ include_usage: false, include_obfuscation: false }),
      tools: fc.constantFrom([look], [], null),
      parallel_tool_calls: orNull(false),
      response_format: fc.constantFrom({ type: 'json_object' }, { type: 'text' }, null),
      user: fc.constantFrom('someone', '', 'x'.repeat(99), null),
      safety_identifier: orNull('else'),
      seed: orNull(4),
      store: orNull(true),
      prediction: orNull({ type: 'content', content: 'x' }),
      maxTokens: orNull(1e9),
      reasoning_effort: orNull('high'),
      top_k: orNull(4),
      min_p: orNull(0.1),
      service_tier: orNull('flex'),
    },
    { requiredKeys: ['model', 'messages'] },
  )
  .chain((known) => strangeFields.map((strange) => ({ ...strange, ...known })))
  .chain(shuffle);

describe('a chat body on its way to a chat upstream', () => {
  it('says all that it said, but for what the gateway answers for', () => {
    fc.assert(
      fc.property(bodies, writings, (body, writing) => {
        const spliced = splice(callOfText(writeJson(body, writing)));
        expect(JSON.parse(spliced ?? '')).toEqual(expectSent(body));
      }),
      { numRuns: 5_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
  });

  it('keeps the bytes of its members', () => {
    const kept =
      '"n":1,"messages" : [ {"content":"\\u0041\\/","role":"user"}],"seed":1e1,"user":"me"';
    expect(splice(callOfText(`{"model":"sonnet",${kept},"stream":true}`))).toBe(
      `{"model":"vendor-\\"ö\\"","max_tokens":77,"stream":true,"stream_options":{"include_usage":true},${kept}}`,
    );
  });

  it('keeps what the other format has no words for', () => {
    const look = (strict: boolean) => ({
      type: 'function',
      function: { name: 'look', parameters: { type: 'object' }, strict },
    });
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"a": 1}' } };
    const url = 'https://example.com/a.png';
    const body = {
      model: 'sonnet',
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'high' } }] },
        { role: 'assistant', content: null, tool_calls: [call], reasoning_content: 'Hm.' },
        { role: 'tool', tool_call_id: 'a', content: ' ' },
        { role: 'user', content: 'Hi', name: 'ann' },
        { role: 'system', content: 'Mind the tests.' },
        { role: 'assistant', content: 'So', refusal: null },
      ],
      temperature: 1.7,
      stop: ' ',
      tools: [look(true), look(false)],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [look(true)] } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: {}, strict: true },
      },
      user: 'x'.repeat(99),
      metadata: { a: 'b' },
      field_of_tomorrow: [1],
    };
    expect(JSON.parse(splice(callOfText(JSON.stringify(body))) ?? '')).toEqual(expectSent(body));
  });

  it('loses its metadata with the order to store it, without which OpenAI refuses them', () => {
    const body = { model: 'sonnet', messages: [{ role: 'user', content: 'Hi' }] };
    const send = (fields: object) =>
      JSON.parse(splice(callOfText(JSON.stringify({ ...body, ...fields }))) ?? '');
    const metadata = { topic: 'a' };
    expect(send({ store: true, metadata })).toEqual(expectSent(body));
    for (const store of [undefined, null, false]) {
      expect(send({ store, metadata })).toEqual(expectSent({ ...body, metadata }));
    }
  });

  it('loses what nobody here knows where the upstream is to have none of it', () => {
    const body = { model: 'sonnet', messages: [{ role: 'user', content: 'Hi' }], seed: 4 };
    const text = JSON.stringify({ ...body, field_of_tomorrow: [1] });
    const spliced = splice(callOfText(text, { dropsUnknown: true }));
    expect(JSON.parse(spliced ?? '')).toEqual(expectSent(body));
  });

  it('asks for no longer a whole answer with likelihoods than can be read', () => {
    const lengthOf = (top: unknown, isStream = false) => {
      const asked = { logprobs: true, top_logprobs: top, stream: isStream };
      const messages = [{ role: 'user', content: 'Hi' }];
      const body = JSON.stringify({ model: 'm', messages, ...asked });
      const call = callOfText(body, { outputTokensMax: 64_000 });
      return (JSON.parse(splice(call) ?? '') as Json)['max_tokens'];
    };
    expect([null, 0, 4, 20, 1e12].map((top) => lengthOf(top))).toEqual([
      ...[64_000, 64_000, 64_000, 15_978, 1],
    ]);
    expect(lengthOf(20, true)).toBe(64_000);
  });
});
