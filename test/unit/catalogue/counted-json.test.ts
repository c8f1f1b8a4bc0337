import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/catalogue/estimate-tokens.ts';
import { isInputUnsure } from '../../../src/gateway/find-bounds.ts';
import { readRequest } from '../../../src/gateway/read-request.ts';
import { chatFormat } from '../../../src/protocol/chat/chat-format.ts';
import type { RouteFormat } from '../../../src/protocol/format.ts';
import { nativeFormat } from '../../../src/protocol/native/native-format.ts';
import { responsesFormat } from '../../../src/protocol/responses/responses-format.ts';

const BYTES_PER_TOKEN = 3;
const HERE = '"@"';
const ASKED = { role: 'user', content: 'Hi' };
const CALL = { role: 'user', content: 'Call it' };
const RESULT = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Done' };
const NATIVE = { model: 'm', max_tokens: 9, messages: [ASKED] };
const CHAT = { model: 'm', messages: [ASKED] };
const RESPONSES = { model: 'm', input: [ASKED], store: false };

interface Place {
  readonly format: RouteFormat;
  readonly body: object;
  /** Whether the JSON stands in a text. */
  readonly isText?: true;
}

const withCalls = (calls: object) => ({
  ...CHAT,
  messages: [
    CALL,
    { role: 'assistant', content: null, ...calls },
    { role: 'tool', tool_call_id: 'call_1', content: 'Done' },
  ],
});

/** What stands at `@` is replaced. */
const PLACES: Readonly<Record<string, Place>> = {
  'the schema of a native tool': {
    format: nativeFormat,
    body: { ...NATIVE, tools: [{ name: 'f', input_schema: { type: 'object', enum: '@' } }] },
  },
  'the input of a native call': {
    format: nativeFormat,
    body: {
      ...NATIVE,
      messages: [
        CALL,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: '@' } }],
        },
        { role: 'user', content: [RESULT] },
      ],
    },
  },
  'an unknown native field': { format: nativeFormat, body: { ...NATIVE, documents: '@' } },
  'the schema of a chat tool': {
    format: chatFormat,
    body: {
      ...CHAT,
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object', enum: '@' } } },
      ],
    },
  },
  'the schema of a chat answer': {
    format: chatFormat,
    body: {
      ...CHAT,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'f', schema: { type: 'object', enum: '@' } },
      },
    },
  },
  'an unknown chat field': { format: chatFormat, body: { ...CHAT, documents: '@' } },
  'the arguments of a chat call': {
    format: chatFormat,
    body: withCalls({
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '@' } }],
    }),
    isText: true,
  },
  'the schema of a Responses tool': {
    format: responsesFormat,
    body: {
      ...RESPONSES,
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object', enum: '@' } }],
    },
  },
  'the schema of a Responses answer': {
    format: responsesFormat,
    body: {
      ...RESPONSES,
      text: { format: { type: 'json_schema', name: 'f', schema: { type: 'object', enum: '@' } } },
    },
  },
  'the arguments of a Responses call': {
    format: responsesFormat,
    body: {
      ...RESPONSES,
      input: [
        ASKED,
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '@' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Done' },
      ],
    },
    isText: true,
  },
};

function estimate({ format, body, isText }: Place, json: string) {
  const written = isText ? JSON.stringify(`{"a":${json}}`) : json;
  const bytes = Buffer.from(JSON.stringify(body).replace(HERE, () => written));
  const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);
  const { request, source } = readRequest(bytes, format, header, false);
  return estimateTokens(request, BYTES_PER_TOKEN, source);
}

const countAll = (place: Place, json: string) => {
  const { likely, unsure } = estimate(place, json);
  return likely + unsure;
};

/** As they are written; each is far more than its value where it has many digits. */
const atoms = fc.oneof(
  fc.constantFrom('[]', '{}', 'true', 'null', '7', '1e20', '-0.25', '[[],[{}]]'),
  fc.constantFrom(`1.${'0'.repeat(300)}`, '9'.repeat(301), `0.${'3'.repeat(100)}`),
);

describe('JSON that is no text', () => {
  it.each(Object.entries(PLACES))('is counted by its bytes in %s', (_, place) => {
    const least = countAll(place, '[]');
    fc.assert(
      fc.property(atoms, fc.integer({ min: 600, max: 1_500 }), (atom, times) => {
        const json = `[${Array(times).fill(atom).join()}]`;
        const counted = countAll(place, json) - least;
        expect(counted * BYTES_PER_TOKEN).toBeGreaterThanOrEqual(json.length / 2);
      }),
      { numRuns: 30 },
    );
  });

  it('hides no text behind numbers that are longer when they are read', () => {
    const text = 'b'.repeat(80_000);
    const json = `[${Array(5_000).fill('1e20').join()}],"b":"${text}","b":""`;
    for (const place of Object.values(PLACES).filter(({ isText }) => isText)) {
      expect(countAll(place, json) * BYTES_PER_TOKEN).toBeGreaterThan(text.length);
    }
  });

  it('makes the input unsure if a number has more digits than its value', () => {
    const place = PLACES['the schema of a native tool'];
    if (place === undefined) throw new Error('there is such a place');
    expect(isInputUnsure(estimate(place, `[${Array(900).fill('1').join()}]`))).toBe(false);
    expect(isInputUnsure(estimate(place, `[${'9'.repeat(9_000)}]`))).toBe(true);
  });
});
