import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkerReport } from '../../../src/messages/worker-messages.ts';
import { startReports } from '../../../src/worker/start-reports.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createStage({ isSlow = false } = {}) {
  const upstream = {
    ...{ name: 'a', restMs: 0, inFlight: 0, concurrencyMax: 1 },
    tries: {
      ok: 0,
      refused: 0,
      overloaded: 0,
      broken: 0,
      unreachable: 0,
      denied: 0,
      slow: 0,
      oversize: 0,
      left: 0,
      fault: 0,
    },
  };
  const now: { health: 'closed' | 'open'; storeOutForMs: number } = {
    health: 'closed',
    storeOutForMs: 0,
  };
  const sent: WorkerReport[] = [];
  const ends: (() => void)[] = [];
  const stop = startReports(
    () => ({
      upstreams: [{ ...upstream, health: now.health }],
      storeOutForMs: now.storeOutForMs,
      readiness: 'ok' as const,
    }),
    (report, onSent) => {
      sent.push(report);
      if (isSlow) ends.push(onSent);
      else onSent();
    },
  );
  return { now, sent, ends, stop };
}

describe('the reports of a worker', () => {
  it('come at once, and then once a second while nothing changes', () => {
    const { sent } = createStage();
    expect(sent).toHaveLength(1);
    vi.advanceTimersByTime(5_000);
    expect(sent).toHaveLength(6);
  });

  it('come sooner when an upstream or the store changes, however often, ten times a second at most', () => {
    const { now, sent } = createStage();
    now.health = 'open';
    vi.advanceTimersByTime(100);
    expect(sent.at(-1)?.upstreams[0]?.health).toBe('open');
    now.storeOutForMs = 5;
    vi.advanceTimersByTime(100);
    expect(sent.at(-1)?.storeOutForMs).toBe(5);
    expect(sent).toHaveLength(3);
    for (let n = 0; n < 500; n += 1) {
      now.health = n % 3 === 0 ? 'open' : 'closed';
      vi.advanceTimersByTime(2);
    }
    expect(sent.length).toBeLessThanOrEqual(13);
  });

  it('do not pile up when the primary is slow, and the last word is sent all the same', () => {
    const { now, sent, ends } = createStage({ isSlow: true });
    now.health = 'open';
    vi.advanceTimersByTime(60_000);
    expect(sent).toHaveLength(1);
    ends[0]?.();
    vi.advanceTimersByTime(100);
    expect(sent.map(({ upstreams }) => upstreams[0]?.health)).toEqual(['closed', 'open']);
  });

  it('end when they are stopped', () => {
    const { sent, stop } = createStage();
    stop();
    vi.advanceTimersByTime(5_000);
    expect(sent).toHaveLength(1);
  });
});
