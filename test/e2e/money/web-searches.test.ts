import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { expectAdmitted } from '../../support/clients/expect-admitted.ts';
import { scrape } from '../../support/clients/scrape.ts';
import type { CleanUp } from '../../support/create-temp-dir.ts';
import {
  beginStream,
  endStream,
  FAILED,
  FOUND,
  type ReportedSearches,
  report,
  type SearchAnswer,
} from '../../support/searching-vendor.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  type HttpUpstream,
  startHttpUpstream,
} from '../../support/upstreams/start-http-upstream.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** An input token costs 0.001 credits, an output token 0.1, a search 10. */
const MODEL =
  'context_length: 1000, max_output_tokens: 100, price: {input: 1000, output: 100000, cache_write_5m: 1000, cache_write_1h: 1000';
/** The windows of three runs, 100 output tokens and two searches. */
const HELD = 3 + 10 + 20;

const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };
const BODY = {
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'What is new?' }],
  tools: [SEARCH],
};

const MODEST: ReportedSearches = { input: 1_500, output: 3, searches: 2 };

const cleanUp = useCleanUp();
let answer: SearchAnswer = report(MODEST);
let vendor: HttpUpstream;
let sharedGateway: Gateway;

/** Starts a gateway in front of the vendor. */
function startBefore(settings: string, cleanUp?: CleanUp): Promise<Gateway> {
  return startGateway({
    ...(cleanUp && { cleanUp }),
    config: [
      settings,
      'models:',
      ...['m', 'whole', 'streamed'].map(
        (id) => `  - {id: ${id}, ${MODEL}, web_search: 10000}, routes: [{upstream: vendor}]}`,
      ),
      `  - {id: of-chat, ${MODEL}, web_search: 10000}, routes: [{upstream: chat}]}`,
      `  - {id: simulated, ${MODEL}, web_search: 10000}, routes: [{upstream: simulated}]}`,
      `  - {id: unpriced, ${MODEL}}, routes: [{upstream: vendor}]}`,
      'upstreams:',
      `  - {name: vendor, kind: native, url: "${vendor.url}"}`,
      `  - {name: chat, kind: chat, url: "${vendor.url}"}`,
      '  - {name: simulated, kind: simulated}',
      '',
    ].join('\n'),
  });
}

beforeAll(async () => {
  vendor = await startHttpUpstream({
    cleanUp,
    answer: ({ body }, response) => answer(response, body.includes('"stream":true')),
  });
  sharedGateway = await startBefore('workers: 2', cleanUp);
});

/** A client with credits, and a vendor that gives this answer. */
async function start(
  vendorsAnswer: SearchAnswer,
  { credits = 1_000, gateway = sharedGateway } = {},
) {
  answer = vendorsAnswer;
  const earlierRequests = vendor.requests.length;
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits });
  const { id, key } = await operator.createKey(account);
  const post = (body: object | string, signal: AbortSignal | null = null) =>
    fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        'llm-version': '2023-06-01',
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal,
    });
  return {
    gateway,
    operator,
    post,
    asked: () => vendor.requests.slice(earlierRequests).map(({ body }) => body),
    balance: async () => (await operator.account(account)).balance,
    async spent() {
      await operator.waitUntilSettled(account);
      return (await operator.key(id)).spent_this_month;
    },
    async usage() {
      await operator.waitForBooks();
      const path = `/usage?account=${account}`;
      return (await operator.call<{ total: object }>('GET', path)).total;
    },
    receipt: (response: Response) =>
      operator.call<Record<string, object>>(
        'GET',
        `/requests/${response.headers.get('request-id')}`,
      ),
  };
}

const lastUsage = (text: string) => text.slice(text.lastIndexOf('"usage"'));

describe.each([false, true])('an answer that searched (streamed: %s)', (stream) => {
  it('is charged for its searches and for all that was read, and sends its usage as it came', async () => {
    const { post, asked, spent, receipt, usage } = await start(report(MODEST));
    const response = await post({ ...BODY, stream });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain('"server_tool_use":{"web_search_requests":2,"web_fetch_requests":0}');
    expect(text).toContain('https://a.example');
    expect(JSON.parse(asked()[0] ?? '')).toMatchObject({ tools: [SEARCH] });
    expect(await spent()).toBe(1.5 + 0.3 + 20);
    expect(await receipt(response)).toMatchObject({
      held: HELD,
      charged: 21.8,
      usage: { input: 1_500, output: 3, searches: 2, estimated: false },
      price: { input: 1_000, web_search: 10_000 },
    });
    expect(await usage()).toMatchObject({ charged: 21.8, searches: 2 });
  });

  it('costs no more than was asked for, whatever its vendor reports', async () => {
    const { post, spent, gateway, receipt } = await start(
      report({ input: 1e9, output: 3, searches: 9 }),
    );
    const model = stream ? 'streamed' : 'whole';
    const response = await post({ ...BODY, model, stream });
    const text = await response.text();
    expect(lastUsage(text)).toContain('"web_search_requests":2');
    expect(lastUsage(text)).toContain('"web_fetch_requests":0');
    expect(await spent()).toBeCloseTo(3 + 0.3 + 20, 6);
    expect(await receipt(response)).toMatchObject({
      usage: { input: 3_000, searches: 2 },
      answered: { usage_implausible: true },
    });
    const { sum } = await scrape(gateway);
    expect(sum('tollgate_usage_implausible_total', { model })).toBe(1);
    expect(sum('tollgate_searches_total', { model })).toBe(2);
  });
});

describe('a request that may search', () => {
  it('needs credits for all that its searches may cost', async () => {
    const poor = await start(report(MODEST), { credits: HELD - 1 });
    expect((await poor.post(BODY)).status).toBe(402);
    expect(poor.asked()).toEqual([]);
    const rich = await start(report(MODEST), { credits: HELD });
    expect((await rich.post(BODY)).status).toBe(200);
  });

  it('is refused where searches have no price, or no bound', async () => {
    const { post, asked, spent } = await start(report(MODEST));
    const other = { ...SEARCH, type: 'web_search_20260209', name: 'other' };
    const refused: readonly [object, string][] = [
      [{ model: 'unpriced' }, 'tools.0.type: `web_search` is not sold here'],
      [{ tools: [{ ...SEARCH, max_uses: undefined }] }, 'tools.0.max_uses: '],
      [{ tools: [{ ...SEARCH, max_uses: null }] }, 'tools.0.max_uses: '],
      [{ tools: [{ ...SEARCH, max_uses: 0 }] }, 'tools.0.max_uses: '],
      [{ tools: [{ ...SEARCH, max_uses: 1.5 }] }, 'tools.0.max_uses: '],
      [{ tools: [{ ...SEARCH, max_uses: '8' }] }, 'tools.0.max_uses: '],
      [{ tools: [{ ...SEARCH, max_uses: 101 }] }, 'tools.0.max_uses: '],
      [
        {
          tools: [
            { ...SEARCH, max_uses: 60 },
            { ...other, max_uses: 60 },
          ],
        },
        'tools.1.max_uses: ',
      ],
      [{ tools: [{ ...SEARCH, Max_Uses: 2 }] }, 'did you mean max_uses'],
      [{ tools: [{ ...SEARCH, type: 'web_fetch_20250910' }] }, 'tools.0.type'],
      [{ model: 'of-chat' }, 'tools.0'],
    ];
    for (const [more, said] of refused) {
      const response = await post({ ...BODY, ...more });
      const { error } = (await response.json()) as { error: { message: string } };
      expect([response.status, error.message], said).toEqual([400, expect.stringContaining(said)]);
    }
    expect(asked()).toEqual([]);
    expect(await spent()).toBe(0);
  });

  it('is held for the bound that its vendor reads, however often it names one', async () => {
    const { post, asked, receipt } = await start(report(MODEST));
    const text = JSON.stringify(BODY).replace('"max_uses":2', '"max_uses":1,"max_uses":2');
    const response = await post(text);
    await response.text();
    expect(asked()[0]?.match(/"max_uses":\d+/g)).toEqual(['"max_uses":2']);
    expect(await receipt(response)).toMatchObject({ held: HELD });
  });

  it('never takes a balance below zero, however many ask at once', async () => {
    const { post, balance, spent } = await start(
      report({ input: 3_000, output: 100, searches: 2 }),
      {
        credits: 3 * HELD + 1,
      },
    );
    const responses = await Promise.all(Array.from({ length: 12 }, () => post(BODY)));
    for (const response of responses) await response.text();
    expectAdmitted(responses, 3, 402);
    const served = responses.filter(({ status }) => status === 200).length;
    expect(await spent()).toBe(served * HELD);
    expect(await balance()).toBe((3 - served) * HELD + 1);
  });

  it('is served by a simulated upstream, which searches as often as it is told to', async () => {
    const { post, spent } = await start(report(MODEST));
    const content =
      'Look. [[tool web_search]] [[tool web_search]] [[tool web_search]] [[tokens 1]]';
    const response = await post({
      ...BODY,
      model: 'simulated',
      messages: [{ role: 'user', content }],
    });
    const { usage, stop_reason: reason } = (await response.json()) as {
      usage: { server_tool_use: object };
      stop_reason: string;
    };
    expect(usage.server_tool_use).toEqual({ web_search_requests: 2 });
    expect(reason).toBe('end_turn');
    expect(await spent()).toBeGreaterThan(20);
  });
});

describe('a client that leaves an answer that searches', () => {
  /** The client leaves at the first text. */
  async function leave(settings: string) {
    const streams: ServerResponse[] = [];
    const place = await start(
      (response) => {
        streams.push(response);
        beginStream(response, [FOUND, FAILED]);
      },
      { gateway: await startBefore(`workers: 1\n${settings}`) },
    );
    const leaving = new AbortController();
    const { body } = await place.post({ ...BODY, stream: true }, leaving.signal);
    const decoder = new TextDecoder();
    let got = '';
    for await (const bytes of body ?? []) {
      got += decoder.decode(bytes, { stream: true });
      if (got.includes('Much')) break;
    }
    leaving.abort();
    const [stream] = streams;
    if (stream === undefined) throw new Error('the vendor was not asked');
    return { ...place, stream };
  }

  it('pays for what is reported in the end', async () => {
    const { gateway, stream, spent } = await leave('on_leave: {action: drain, timeout: 60s}');
    const isDraining = async () => (await scrape(gateway)).sum('tollgate_answers_draining') === 1;
    await waitUntil(isDraining, 'the answer is read on');
    endStream(stream, MODEST);
    expect(await spent()).toBe(21.8);
  });

  it('pays at least for the searches that found something, where nothing is read on', async () => {
    const { stream, spent } = await leave('on_leave: {action: stop}');
    await waitUntil(() => stream.destroyed, 'the vendor is hung up on');
    const charged = await spent();
    expect(charged).toBeGreaterThan(10);
    expect(charged).toBeLessThan(11);
  });
});
