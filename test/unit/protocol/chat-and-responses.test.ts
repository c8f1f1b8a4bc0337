import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../src/protocol/chat/chat-format.ts';
import { encodeChatRequest } from '../../../src/protocol/chat/requests/encode-request.ts';
import { encodeResponsesRequest } from '../../../src/protocol/responses/requests/encode-request.ts';
import { responsesFormat } from '../../../src/protocol/responses/responses-format.ts';

/** What both formats can say arrives whole, from a client of one at an upstream of the other. */

type Json = Readonly<Record<string, unknown>>;

const header = () => undefined;
const hello = { model: 'gpt', messages: [{ role: 'user', content: 'Hi' }] };

function fromChat(fields: Json): Json {
  const { request } = chatFormat.decodeRequest({ ...hello, ...fields }, header);
  const call = { request, outputTokensMax: 9, isStream: false };
  return JSON.parse(encodeResponsesRequest(call, 'sold'));
}

function fromResponses(fields: Json): Json {
  const { request } = responsesFormat.decodeRequest(
    { model: 'gpt', input: 'Hi', ...fields },
    header,
  );
  const call = { request, outputTokensMax: 9, isStream: false };
  return JSON.parse(encodeChatRequest(call, 'sold', 'max_tokens'));
}

const schema = { type: 'object', properties: { a: { type: 'integer' } } };

describe('between chat and Responses', () => {
  it.each([
    { name: 'weather', description: 'Of a day.', strict: true, schema },
    { name: 'weather', strict: false, schema },
    { name: 'weather', schema },
  ])('a schema keeps all that is said of it: %j', (terms) => {
    const format = { type: 'json_schema', ...terms };
    const response_format = { type: 'json_schema', json_schema: terms };
    expect(fromChat({ response_format })['text']).toEqual({ format });
    expect(fromResponses({ text: { format } })['response_format']).toEqual(response_format);
  });

  it.each(['', 'two words', 'x'.repeat(65)])(
    'a schema gets another name in place of one that upstreams refuse: "%s"',
    (name) => {
      const named = { name: 'answer', schema };
      const format = { type: 'json_schema', name, schema };
      expect(
        fromChat({ response_format: { type: 'json_schema', json_schema: { name, schema } } }),
      ).toMatchObject({ text: { format: named } });
      expect(fromResponses({ text: { format } })).toMatchObject({
        response_format: { json_schema: named },
      });
    },
  );

  it.each(['END', '\n', ['a', ' ']])('no stop is left out: %j is refused', (stop) => {
    expect(() => fromChat({ stop })).toThrow('this model does not take stop sequences');
  });

  it.each(['', [], ['']])('an empty stop stops nothing, and is left out: %j', (stop) => {
    expect(() => fromChat({ stop })).not.toThrow();
  });

  it.each([0, 1, 1.6, 2])('the temperature stays as it is: %d', (temperature) => {
    expect(fromChat({ temperature })).toMatchObject({ temperature });
    expect(fromResponses({ temperature })).toMatchObject({ temperature });
  });
});
