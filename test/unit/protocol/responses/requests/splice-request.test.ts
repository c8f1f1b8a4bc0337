import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonBody } from '../../../../../src/protocol/json/parse-json-body.ts';
import { encodeResponsesRequest } from '../../../../../src/protocol/responses/requests/encode-request.ts';
import { spliceResponsesRequest } from '../../../../../src/protocol/responses/requests/splice-request.ts';
import { responsesFormat } from '../../../../../src/protocol/responses/responses-format.ts';
import { keepSealed, type Opener } from '../../../../../src/protocol/sealed-reasoning.ts';
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
const MODEL = 'vendor-"ö"';

type Json = Readonly<Record<string, unknown>>;

function callOfText(body: string, fields: Partial<UpstreamCall> = {}): UpstreamCall {
  const source = readJsonBody(new TextEncoder().encode(body));
  const header = () => undefined;
  const { request } = responsesFormat.decodeRequest(source.value, header, {
    openThought: keepSealed,
  });
  return { request, outputTokensMax: 77, isStream: request.isStream, source, ...fields };
}

const callOf = (body: Json, fields: Partial<UpstreamCall> = {}) =>
  callOfText(JSON.stringify({ model: 'sonnet', input: 'Hi', ...body }), fields);
const sentBy = (call: UpstreamCall): Json =>
  JSON.parse(joinPieces(spliceResponsesRequest(call, MODEL)) ?? '{}');

const look = { type: 'function', name: 'look', parameters: { type: 'object' } };
const orNull = <Value>(value: Value) => fc.constantFrom(value, null);
const bodies = fc
  .record(
    {
      model: fc.constantFrom('sonnet', 'mödel'),
      input: fc.oneof(
        texts,
        fc.array(
          fc.record({ role: fc.constantFrom('user', 'assistant', 'developer'), content: texts }),
          { minLength: 1, maxLength: 3 },
        ),
      ),
      instructions: orNull('Be brief.'),
      max_output_tokens: orNull(9),
      temperature: fc.constantFrom(1.7, 0, null),
      stream: fc.constantFrom(true, false, null),
      store: fc.constantFrom(true, false, null),
      include: fc.constantFrom<unknown>(['message.output_text.logprobs'], [], null),
      tools: fc.constantFrom<unknown>([look], [], null),
      parallel_tool_calls: orNull(false),
      max_tokens: orNull(1e9),
      prompt_cache_key: orNull('key'),
      metadata: orNull({ a: 'b' }),
      truncation: fc.constantFrom('auto', 'disabled', null),
    },
    { requiredKeys: ['model', 'input'] },
  )
  .chain((known) => strangeFields.map((strange) => ({ ...strange, ...known })))
  .chain(shuffle);

const OF_THE_GATEWAY = [
  ...['model', 'max_output_tokens', 'stream', 'store', 'include', 'max_tokens', 'truncation'],
];
const KNOWN = ['instructions', 'temperature', 'tools', 'prompt_cache_key', 'metadata'];

function expectSent(body: Json): Json {
  const hasTools = Array.isArray(body['tools']) && body['tools'].length > 0;
  const others = Object.entries(body).filter(([name, value]) => {
    if (OF_THE_GATEWAY.includes(name)) return false;
    if (name === 'parallel_tool_calls') return hasTools && value !== null;
    return (
      !KNOWN.includes(name) || (value !== null && !(Array.isArray(value) && value.length === 0))
    );
  });
  return {
    ...Object.fromEntries(others),
    ...{ model: MODEL, max_output_tokens: 77, stream: body['stream'] === true, store: false },
    include: body['include'] ?? [],
  };
}

describe('a request of the responses format to an upstream of the same', () => {
  it('goes on as it came, except for what the gateway answers for', () => {
    fc.assert(
      fc.property(bodies, writings, (body, writing) => {
        const text = writeJson(body, writing);
        expect(sentBy(callOfText(text))).toEqual(expectSent(JSON.parse(text)));
      }),
      { numRuns: 3_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
  });

  it('asks in the same words whether it is spliced or written anew', () => {
    const input = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c', output: '7' },
    ];
    const fields = { max_output_tokens: 77, temperature: 0.5, store: false, tools: [look] };
    const call = callOf({ input, ...fields });
    const written = JSON.parse(encodeResponsesRequest(call, MODEL));
    const [first, ...items] = input;
    expect(written).toEqual({
      ...{ ...sentBy(call), tools: [{ ...look, strict: false }] },
      tools: [{ ...look, strict: false, parameters: { type: 'object', properties: {} } }],
      input: [{ ...first, content: expect.anything() }, ...items],
    });
    expect(JSON.stringify(written.input[0])).toContain('Weather?');
  });

  it('asks for no longer a whole answer with likelihoods than can be read', () => {
    const lengthOf = (body: object) =>
      sentBy(callOf({ top_logprobs: 20, ...body }, { outputTokensMax: 64_000 }))[
        'max_output_tokens'
      ];
    expect(lengthOf({})).toBe(15_978);
    expect(lengthOf({ stream: true })).toBe(64_000);
  });

  it('asks for encrypted thoughts if the upstream has them, beside what the client asks for', () => {
    const accepts = new Set(['encrypted_reasoning'] as const);
    const include = ['message.output_text.logprobs', 'reasoning.encrypted_content'];
    expect(sentBy(callOf({}, { accepts }))['include']).toEqual(include.slice(1));
    expect(sentBy(callOf({ include: include.slice(0, 1) }, { accepts }))['include']).toEqual(
      include,
    );
    expect(sentBy(callOf({ include }, { accepts }))['include']).toEqual(include);
  });

  it('brings thoughts back to their upstream only, and leaves out all others', () => {
    const open: Opener = (sealed) =>
      sealed === 'tg1.good'
        ? { upstream: 'main', reasoning: { type: 'reasoning', id: 'rs_v', encrypted: 'secret' } }
        : undefined;
    const thought = { type: 'reasoning', id: 'rs_ours', summary: [] };
    const input = [
      { role: 'user', content: 'Hi' },
      { ...thought, encrypted_content: 'tg1.good', status: 'completed' },
      { ...thought, encrypted_content: 'tg1.bad' },
      { ...thought, encrypted_content: 'foreign' },
      thought,
      { role: 'assistant', content: 'Hello' },
    ];
    const sentTo = (upstream: string) =>
      sentBy(callOf({ input }, { reasoning: { upstream, open } }))['input'];
    expect(sentTo('main')).toEqual([
      input[0],
      { ...thought, id: 'rs_v', encrypted_content: 'secret' },
      input[5],
    ]);
    expect(sentTo('other')).toEqual([input[0], input[5]]);
  });

  it('has no tools that a vendor runs, at any place', () => {
    const search = { type: 'web_search' };
    const space = { type: 'namespace', name: 'n', tools: [look] };
    const input = [
      { role: 'user', content: 'Hi' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'additional_tools', tools: [search, look] },
    ];
    const sent = sentBy(callOf({ input, tools: [search, look, { ...space, tools: [look] }] }));
    expect(sent).toMatchObject({
      tools: [look, space],
      input: [input[0], { type: 'additional_tools', tools: [look] }],
    });
    expect(sentBy(callOf({ tools: [search], tool_choice: 'auto' }))).not.toHaveProperty('tools');
    expect(sentBy(callOf({ tools: [search], tool_choice: 'auto' }))).not.toHaveProperty(
      'tool_choice',
    );
  });

  it('shows images and files of users only, which are those that count', () => {
    const image = { type: 'input_image', image_url: 'https://h/a.png' };
    const file = { type: 'input_file', file_url: 'https://h/a.pdf' };
    const text = { type: 'input_text', text: 'Look' };
    const shown = { role: 'user', content: [text, image, file] };
    const told = { role: 'developer', content: [text, image, file] };
    const said = { type: 'message', role: 'assistant', content: [image] };
    expect(sentBy(callOf({ input: [told, said, shown] }))['input']).toEqual([
      { ...told, content: [text] },
      shown,
    ]);
  });

  it('leaves out unknown fields if the upstream takes none', () => {
    const fields = { of_tomorrow: 1, metadata: { a: 'b' } };
    expect(sentBy(callOf(fields))).toMatchObject(fields);
    const sent = sentBy(callOf(fields, { dropsUnknown: true }));
    expect(sent).toMatchObject({ metadata: { a: 'b' } });
    expect(sent).not.toHaveProperty('of_tomorrow');
  });
});
