import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LoadProgress, LoadResult } from '../../src/load/load-result.ts';
import { type LoadOptions, runLoad } from '../../src/load/run-load.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { startHeldServer } from './start-held-server.ts';

/** The value in `runLoad`. */
const WAITING_MAX = 16_384;

function load(url: string, options: Partial<LoadOptions>): Promise<LoadResult> {
  return runLoad({
    url: new URL(url),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{}'),
    ratePerSecond: 100,
    seconds: 1,
    connectionsMax: 10,
    ...options,
  });
}

describe('a load', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('sends all that is due, at low rates and at high ones', async () => {
    for (const [ratePerSecond, seconds] of [
      [3, 1],
      [333, 1],
      [5_000, 0.5],
      [25_000, 0.1],
    ] as const) {
      const server = await startHeldServer();
      const result = await load(server.url, { ratePerSecond, seconds });
      const due = ratePerSecond * seconds;
      expect(result).toMatchObject({ sent: due, completed: due, statuses: { 200: due } });
      expect([result.failures, server.asked()]).toEqual([{}, due]);
      expect(result.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(due);
    }
  });

  it('counts nothing that was due in its lead-in, and says when that is over', async () => {
    const server = await startHeldServer();
    const askedBefore: number[] = [];
    const result = await load(server.url, {
      leadIn: { seconds: 0.5, onOver: () => askedBefore.push(server.asked()) },
    });
    expect(server.asked()).toBe(150);
    expect(result).toMatchObject({ sent: 100, completed: 100, statuses: { 200: 100 } });
    expect(askedBefore).toHaveLength(1);
    expect(askedBefore[0]).toBeLessThanOrEqual(50);
  });

  it('sends nothing before it is due', async () => {
    const ratePerSecond = 5;
    const arrivals: number[] = [];
    const server = await startHeldServer({ onAsked: () => arrivals.push(performance.now()) });
    const startedMs = performance.now();
    await load(server.url, { ratePerSecond, seconds: 1 });
    expect(arrivals).toHaveLength(ratePerSecond);
    for (const [index, atMs] of arrivals.entries()) {
      expect(atMs - startedMs).toBeGreaterThanOrEqual((index * 1_000) / ratePerSecond);
    }
  });

  it('lets due requests wait for a connection, and gives up those that find no room', async () => {
    const server = await startHeldServer();
    server.hold();
    const due = WAITING_MAX + 1 + 2_000;
    const result = await load(server.url, {
      ratePerSecond: 40_000,
      seconds: due / 40_000,
      connectionsMax: 1,
      onProgress: ({ failed }) => {
        if (failed === 2_000) server.release();
      },
    });
    expect(result.failures).toEqual({ line_full: 2_000 });
    expect(result).toMatchObject({ sent: WAITING_MAX + 1, statuses: { 200: WAITING_MAX + 1 } });
    expect(result.waitMs.max).toBeGreaterThan(result.waitMs.p50);
  });

  it('counts what is not answered, or could not be sent, when it has waited long enough', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = await startHeldServer();
    server.hold();
    const seen: LoadProgress[] = [];
    const result = await load(server.url, {
      connectionsMax: 4,
      onProgress: (progress) => {
        seen.push(progress);
        if (server.asked() === 4) vi.advanceTimersByTime(60_000);
      },
    });
    expect(result.failures).toEqual({ unanswered: 4, unsent: 96 });
    expect([result.sent, result.completed]).toEqual([4, 0]);
    expect(seen[0]).toMatchObject({ completed: 0, failed: 0 });
  });

  it('counts connections that nobody takes', async () => {
    const result = await load(`http://127.0.0.1:${await findFreePort()}`, {});
    expect(result).toMatchObject({ sent: 100, completed: 0, failures: { connect_failed: 100 } });
    expect(result.histogram).toEqual([]);
  });

  it('rejects when its request cannot be written as HTTP', async () => {
    const server = await startHeldServer();
    await expect(load(server.url, { headers: { 'x-api-key': 'a\nb' } })).rejects.toThrow(
      'header x-api-key has no possible value',
    );
  });
});
