import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonBody } from '../../../../../src/protocol/json/parse-json-body.ts';
import { encodeNativeRequest } from '../../../../../src/protocol/native/requests/encode-request.ts';
import { spliceNativeRequest } from '../../../../../src/protocol/native/requests/splice-request.ts';
import type { UpstreamCall } from '../../../../../src/protocol/upstream-call.ts';
import { decodeNative } from '../../upstream-requests.ts';
import {
  joinPieces,
  shuffle,
  strangeFields,
  texts,
  writeJson,
  writings,
} from '../../written-bodies.ts';
import { assistant, BODY, cached, text, tool, user } from '../request-parts.ts';

const FUZZ_TIME_MS = 4_000;

function callOfText(body: string, fields: Partial<UpstreamCall> = {}): UpstreamCall {
  const source = readJsonBody(new TextEncoder().encode(body));
  const request = decodeNative(source.value);
  const { isStream } = request;
  return { request, outputTokensMax: request.outputTokensMax ?? 0, isStream, source, ...fields };
}

const splice = (call: UpstreamCall) => joinPieces(spliceNativeRequest(call, 'vendor-"ö"'));
const encode = (call: UpstreamCall) => JSON.parse(encodeNativeRequest(call, 'vendor-"ö"'));

const orNull = <Value>(value: Value) => fc.constantFrom(value, null);
const messages = fc
  .array(fc.tuple(texts, texts, fc.boolean()), { minLength: 1, maxLength: 4 })
  .map((turns) =>
    turns.flatMap(([asked, said, isList]) => [
      isList ? user(text(asked)) : { role: 'user', content: asked },
      isList
        ? assistant(
            { type: 'thinking', thinking: said, signature: asked.length > 9 ? '' : 's' },
            text('ok'),
          )
        : { role: 'assistant', content: `${said}.` },
    ]),
  );
const bodies = fc
  .record(
    {
      model: fc.constantFrom('sonnet', 'mödel'),
      max_tokens: fc.constantFrom(1, 2_048, 20_000),
      messages,
      system: fc.oneof(orNull('Be brief.'), texts, fc.constant([text('Be brief.', cached())])),
      stream: fc.constantFrom(true, false, null),
      temperature: orNull(1),
      top_p: fc.constantFrom(0.5, null, -1),
      top_k: fc.constantFrom(3, null, -1),
      stop_sequences: fc.constantFrom(['a', '"'], [], null),
      tools: fc.constantFrom([tool('look')], [], null),
      cache_control: orNull({ type: 'ephemeral' }),
      thinking: fc.constantFrom({ type: 'disabled' }, { type: 'adaptive' }, null),
      metadata: orNull({ user_id: '"stream":true' }),
      output_config: fc.constantFrom(
        { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
        { format: { type: 'of tomorrow', schema: true } },
        null,
      ),
    },
    { requiredKeys: ['model', 'max_tokens', 'messages'] },
  )
  .chain((known) => strangeFields.map((strange) => ({ ...strange, ...known })))
  .chain(shuffle);

describe('a native body on its way to a native upstream', () => {
  it('says what it would say if it were written anew', () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(bodies, writings, fc.integer({ min: 1, max: 99 }), (body, writing, cut) => {
        const call = callOfText(writeJson(body, writing), { outputTokensMax: cut });
        const spliced = splice(call);
        outcomes.add(spliced === undefined ? 'written anew' : 'spliced');
        if (spliced !== undefined) expect(JSON.parse(spliced)).toEqual(encode(call));
      }),
      { numRuns: 5_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
    expect([...outcomes].sort()).toEqual(['spliced', 'written anew']);
  });

  it('keeps the bytes of all that stays, numbers and spaces and escapes too', () => {
    const kept =
      '"messages": [{"role":"user","content":"\\u0041\\/"}],\n "metadata":{"n":1e3,"big":12345678901234567890}';
    expect(splice(callOfText(`{"max_tokens":1e3, "model":"sonnet",${kept}}`))).toBe(
      `{"model":"vendor-\\"ö\\"","max_tokens":1000,"stream":false,${kept}}`,
    );
  });

  it('loses what says nothing, wherever it stands', () => {
    const spliced = splice(
      callOfText(
        '{"top_k":-1,"top_p":-1.0,"model":"sonnet","tools":[],"messages":[{"role":"user","content":"Hi"}],"stop_sequences":[ ],"max_tokens":5,"x":[],"system":null}',
      ),
    );
    expect(spliced).toBe(
      '{"model":"vendor-\\"ö\\"","max_tokens":5,"stream":false,"messages":[{"role":"user","content":"Hi"}],"x":[]}',
    );
  });

  it('may come behind a byte order mark', () => {
    expect(JSON.parse(splice(callOfText(`\uFEFF${JSON.stringify(BODY)}`)) ?? '')).toMatchObject({
      max_tokens: BODY.max_tokens,
    });
  });

  const unsigned = assistant({ type: 'thinking', thinking: 'Hm.', signature: '' }, text('So'));
  const tight = { ...BODY, max_tokens: 2_048, thinking: { type: 'enabled', budget_tokens: 2_000 } };
  const cases: readonly [string, string, Partial<UpstreamCall>][] = [
    [
      'a thought is unsigned',
      JSON.stringify({ ...BODY, messages: [...BODY.messages, unsigned] }),
      {},
    ],
    [
      'the system has to speak as a user',
      JSON.stringify({
        ...BODY,
        messages: [...BODY.messages, { role: 'system', content: 'Mind.' }],
      }),
      {},
    ],
    [
      'a model said nothing visible',
      JSON.stringify({ ...BODY, messages: [...BODY.messages, assistant(text(''))] }),
      {},
    ],
    ['its thoughts have to be cut', JSON.stringify(tight), { outputTokensMax: 1_500 }],
  ];
  for (const [name, body, fields] of cases) {
    it(`is written anew where ${name}`, () => {
      expect(splice(callOfText(body, fields))).toBeUndefined();
    });
  }
});
