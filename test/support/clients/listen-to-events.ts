import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Gateway } from '../servers/start-gateway.ts';

export interface HeardEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns all events received so far. The query begins with `?`. */
export async function listenToEvents(gateway: Gateway, query = ''): Promise<() => HeardEvent[]> {
  const token = readFileSync(join(gateway.dataDir, 'admin-token'), 'utf8').trim();
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(`${gateway.opsUrl}/admin/v1/events${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: leaving.signal,
  });
  expect(response.status).toBe(200);
  let text = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  };
  read().catch(() => {});
  return () =>
    [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, type = '', data = '']) => ({
      type,
      data: JSON.parse(data),
    }));
}
