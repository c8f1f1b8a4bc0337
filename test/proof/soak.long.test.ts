import { expect, it } from 'vitest';
import { runSoak } from '../../bench/soak/run-soak.ts';

const TIME_MAX_MS = 240_000;

it(
  'a short soak with reloads and killed workers leaves every invariant whole',
  async () => {
    const { broken, outcomes, done, ledgerEntries } = await runSoak({
      durationMs: 30_000,
      clients: 16,
      rateWindowMs: 5_000,
      disturbIntervalMs: 4_000,
      killsWorkers: true,
      onSample: () => {},
    });
    expect(broken).toEqual([]);
    // Without each of these outcomes the soak would prove nothing.
    const some = expect.any(Number);
    expect(outcomes).toMatchObject({ 200: some, 401: some, 402: some, 429: some, left: some });
    expect(done).toMatchObject({ kill: expect.any(Number), reload: expect.any(Number) });
    expect(ledgerEntries).toBeGreaterThanOrEqual(outcomes['200'] ?? 0);
  },
  TIME_MAX_MS,
);
