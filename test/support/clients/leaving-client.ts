import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FormatName } from '../../../src/protocol/format-names.ts';
import type { Gateway } from '../servers/start-gateway.ts';
import { waitUntil } from '../wait-until.ts';
import { admin } from './admin.ts';

const PROMPT_BYTES = 4_000;

export interface Tokens {
  readonly input: number;
  readonly output: number;
}

interface LedgerLine {
  readonly kind: string;
  readonly usage: Readonly<Record<string, number>> | null;
}

async function readCharged(gateway: Gateway, account: string): Promise<Tokens> {
  await admin(gateway).waitUntilSettled(account);
  await admin(gateway).waitForBooks();
  const token = readFileSync(join(gateway.dataDir, 'admin-token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}` };
  const url = `${gateway.opsUrl}/admin/v1/ledger?account=${account}`;
  const text = await (await fetch(url, { headers })).text();
  const lines = text.split('\n').filter((line) => line !== '');
  const entries = lines.map((line) => JSON.parse(line) as LedgerLine);
  const usage = entries.find(({ kind }) => kind !== 'topup')?.usage;
  if (usage == null) throw new Error(`nothing was settled: ${text}`);
  const { input = 0, cache_write_5m: written = 0, output = 0 } = usage;
  return { input: input + written, output };
}

const PATHS = {
  native: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};

/**
 * A client that sends a request and may leave early, or read no more. Its account has this one
 * request only.
 */
export async function createLeavingClient(
  gateway: Gateway,
  text: string,
  more: object,
  format: FormatName = 'native',
) {
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: 10 });
  const { key } = await operator.createKey(account);
  const leaving = new AbortController();
  const content = text.padEnd(PROMPT_BYTES, '.');
  const asked =
    format === 'responses'
      ? { max_output_tokens: 4_000, input: content }
      : { max_tokens: 4_000, messages: [{ role: 'user', content }] };
  let reading: Promise<void> | undefined;
  let got = '';
  let requestId: string | null = null;
  const ask = async () => {
    const response = await fetch(gateway.url + PATHS[format], {
      method: 'POST',
      headers: {
        'x-api-key': key,
        'llm-version': '2023-06-01',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'm', stream: true, ...asked, ...more }),
      signal: leaving.signal,
    });
    requestId = response.headers.get('request-id');
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      got += decoder.decode(bytes, { stream: true });
      await reading;
    }
  };
  const over = ask().catch(() => {});
  return {
    account,
    over,
    leave: () => leaving.abort(),
    stopReading() {
      reading = new Promise(() => {});
    },
    hasGot: (words: string) => waitUntil(() => got.includes(words), `the client has got ${words}`),
    requestId: () => requestId,
    charged: () => readCharged(gateway, account),
  };
}

export type LeavingClient = Awaited<ReturnType<typeof createLeavingClient>>;
