import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import type { Format } from '../../../../src/protocol/format.ts';
import { readJsonBody } from '../../../../src/protocol/json/parse-json-body.ts';
import { nativeFormat } from '../../../../src/protocol/native/native-format.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';
import { dialectOf } from '../../../../src/upstream/upstream-dialect.ts';

const ADDRESS = 'ada@example.com';
const DIGEST = createHash('sha256').update(ADDRESS).digest('hex');
const MESSAGES = [{ role: 'user', content: 'Hi' }];

function metadataFor(format: Format, body: Readonly<Record<string, unknown>>): unknown {
  const { request } = format.decodeRequest(body, (name) =>
    name === 'llm-version' ? '2023-06-01' : undefined,
  );
  const source =
    format === nativeFormat ? readJsonBody(Buffer.from(JSON.stringify(body))) : undefined;
  const call = { request, readWhole: () => request, outputTokensMax: 9, isStream: false, source };
  const sent = dialectOf('native').encodeRequest(call, 'vendor-name', undefined);
  const text = typeof sent === 'string' ? sent : Buffer.concat(sent).toString();
  return JSON.parse(text)['metadata'];
}

describe('the end user in a request for a native upstream', () => {
  it.each([
    ['chat', chatFormat, { messages: MESSAGES, user: ADDRESS }],
    ['Responses', responsesFormat, { input: 'Hi', safety_identifier: ADDRESS }],
  ])('is a digest where a %s client has named one', (_, format, body) => {
    expect(metadataFor(format, { model: 'm', ...body })).toEqual({ user_id: DIGEST });
  });

  it('is nobody where nobody was named', () => {
    expect(metadataFor(chatFormat, { model: 'm', messages: MESSAGES })).toBeUndefined();
  });

  it('stays as a native client has named it', () => {
    const metadata = { user_id: ADDRESS };
    const body = { model: 'm', max_tokens: 9, messages: MESSAGES, metadata };
    expect(metadataFor(nativeFormat, body)).toEqual(metadata);
  });
});
