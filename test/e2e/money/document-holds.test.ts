import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startRecordingUpstream } from '../../support/upstreams/start-recording-upstream.ts';
import { wholeBody } from '../../support/upstreams/upstream-answers.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

/** The tokens that a vendor counts for a document that one model can just read. */
const DOCUMENT_TOKENS = 190_000;
const WINDOW = 200_000;
const OUTPUT_TOKENS = 10;
/** Credits per million tokens. */
const PRICE = { input: 5, output: 25 };
const PARALLEL = 118;
const CREDITS = 2.5;

let billed = 0;
let gateway: Gateway;
let strict: Gateway;
const cleanUp = useCleanUp();

beforeAll(async () => {
  // Bills what a request really contains: the bytes of all its texts, and the pages of its
  // documents.
  const upstream = await startRecordingUpstream(cleanUp, ({ body }) => {
    const said = JSON.stringify(body['messages']);
    const documents = said.split(/"type":"(?:url|file|base64)"/).length - 1;
    const input = Math.min(WINDOW, documents * DOCUMENT_TOKENS + Math.ceil(said.length / 4));
    billed += (input * PRICE.input + OUTPUT_TOKENS * PRICE.output) / 1e6;
    return {
      type: 'application/json',
      body: wholeBody('native', 'Read.', { input, output: OUTPUT_TOKENS }),
    };
  });
  const config = (settings: string) => `workers: 2
${settings}models:
  - {id: reader, context_length: ${WINDOW}, max_output_tokens: 1000, price: ${JSON.stringify(PRICE)}}
upstreams: [{name: main, kind: native, url: "${upstream.url}"}]
`;
  const none = 'image_url_tokens: 0, pdf_tokens: 0, document_url_tokens: 0';
  const all = 'file_tokens: window';
  gateway = await startGateway({ config: config(`estimate: {${all}}\n`), cleanUp });
  strict = await startGateway({ config: config(`estimate: {${none}}\n`), cleanUp });
});
const LINK = { type: 'url', url: 'https://example.com/book.pdf' };
const FILE = { type: 'file', file_id: 'file_1' };
const PDF = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' };
const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more });
const LONG = 'All of a book. '.repeat(4_000);

function ask(url: string, key: string, content: readonly object[]): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // Many connections at once would still be kept when the gateway closes those that are idle.
      connection: 'close',
      'x-api-key': key,
      'llm-version': '2023-06-01',
    },
    body: JSON.stringify({
      model: 'reader',
      max_tokens: OUTPUT_TOKENS,
      messages: [{ role: 'user', content }],
    }),
  });
}

describe('documents that nobody can count', () => {
  it.each([
    ['by URL', [document(LINK)]],
    ['by id', [document(FILE)]],
    ['that are small files of many pages', [document(PDF)]],
    ['with a context that is longer than themselves', [document(LINK, { context: LONG })]],
    [
      'of text with a long context',
      [document({ type: 'text', media_type: 'text/plain', data: 'a' }, { context: LONG })],
    ],
  ])('%s: 118 at once cost no more than the account has', async (_, content) => {
    const operator = admin(gateway);
    const account = await operator.createAccount({ credits: CREDITS });
    const { key } = await operator.createKey(account);
    billed = 0;
    const answers = await Promise.all(
      Array.from({ length: PARALLEL }, () => ask(gateway.url, key, content)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toEqual(expect.arrayContaining([200, 402]));
    // This many requests at once may find the gateway busy.
    expect(statuses.filter((status) => ![200, 402, 503].includes(status))).toEqual([]);
    await operator.waitUntilSettled(account);
    const { balance } = await operator.account(account);
    expect(billed).toBeGreaterThan(0);
    expect(billed).toBeLessThanOrEqual(CREDITS);
    expect(balance).toBeCloseTo(CREDITS - billed, 6);
  });

  it('are refused in both formats where the settings give them no bound', async () => {
    const { key } = await admin(strict).createKey(await admin(strict).createAccount());
    const image = (source: object) => ({ type: 'image', source });
    const picture = { type: 'url', url: 'https://example.com/a.png' };
    const blocks = [
      ...[document(LINK), document(PDF), document(FILE), image(picture), image(FILE)],
      { type: 'container_upload', file_id: 'file_1' },
    ];
    for (const block of blocks) {
      const answer = await ask(strict.url, key, [block]);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('this gateway does not take');
    }
    const answer = await fetch(`${strict.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({
        model: 'reader',
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
          },
        ],
      }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { message: 'messages: this gateway does not take images by URL' },
    });
  });
});
