import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAskStore } from '../../../src/quota/ask-store.ts';
import { createBreaker } from '../../../src/redis/breaker.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const clock = { nowMs: () => Date.now() };

function create() {
  return createAskStore({
    // A breaker that never opens. Other tests cover what it does.
    breakerOf: () => ({ state: () => 'closed', enter: () => ({ epoch: 0 }), leave: () => {} }),
    random: () => 0.5,
  });
}

const BUCKET = 7;
const HOUR_MS = 3_600_000;
const timedOut = () => Promise.reject(new Error('Command timed out'));

describe('asking the store', () => {
  it('repeats a call that got no reply', async () => {
    let calls = 0;
    const reply = create()(BUCKET, async () => {
      calls++;
      if (calls < 3) throw new Error('Connection is closed.');
      return 'reply';
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await reply).toBe('reply');
  });

  it('gives up within one and a half seconds, with a refusal that may be tried again', async () => {
    // Vitest has no fake of the timers that it waits with.
    vi.useRealTimers();
    const startedMs = performance.now();
    const askedMs: number[] = [];
    const asking = create()(BUCKET, () => {
      askedMs.push(performance.now() - startedMs);
      return timedOut();
    });
    await expect(asking).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '3' } });
    expect(askedMs.length).toBeGreaterThan(2);
    // On a busy machine the last call may come late, and the ones before it decided in time.
    expect(askedMs.at(-2)).toBeLessThan(1_500);
  });

  it('gives up in time although the clock is set back', async () => {
    const refused = expect(create()(BUCKET, timedOut)).rejects.toMatchObject({ status: 503 });
    await vi.advanceTimersByTimeAsync(200);
    vi.setSystemTime(Date.now() - HOUR_MS);
    await vi.advanceTimersByTimeAsync(1_300);
    await refused;
  }, 5_000);

  it('does not repeat what fails by a mistake', async () => {
    let calls = 0;
    await expect(
      create()(BUCKET, async () => {
        calls++;
        throw new Error('ERR wrong number of arguments');
      }),
    ).rejects.toThrow('wrong number');
    expect(calls).toBe(1);
  });

  it('lets 200 wait and refuses the next one at once', async () => {
    const ask = create();
    const waiting = Array.from({ length: 200 }, () => ask(BUCKET, timedOut).catch(() => 'refused'));
    await vi.advanceTimersByTimeAsync(0);
    await expect(ask(BUCKET, timedOut)).rejects.toMatchObject({ status: 503 });
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await Promise.all(waiting)).toEqual(new Array(200).fill('refused'));
  });

  it('asks nothing while the breaker is open', async () => {
    const breaker = createBreaker({ clock, random: () => 0.5 });
    const ask = createAskStore({ breakerOf: () => breaker, random: () => 0.5 });
    let calls = 0;
    const failing = async () => {
      calls++;
      throw new Error('Command timed out');
    };
    const all = Array.from({ length: 50 }, () => ask(BUCKET, failing).catch(() => {}));
    await vi.advanceTimersByTimeAsync(1_500);
    await Promise.all(all);
    expect(breaker.state()).not.toBe('closed');
    // All 50 at first, then only probes, one every quarter of a second.
    expect(calls).toBeLessThan(60);
  });

  it('is not kept from one part of a Cluster by an outage of another', async () => {
    const [out, well] = [1, 2].map(() => createBreaker({ clock, random: () => 0.5 }));
    if (out === undefined || well === undefined) throw new Error('there are two');
    const ask = createAskStore({
      breakerOf: (bucket) => (bucket === BUCKET ? out : well),
      random: () => 0.5,
    });
    const all = Array.from({ length: 50 }, () => ask(BUCKET, timedOut).catch(() => {}));
    await vi.advanceTimersByTimeAsync(1_500);
    await Promise.all(all);
    expect(out.state()).not.toBe('closed');
    expect(await ask(BUCKET + 1, async () => 'reply')).toBe('reply');
  });
});
