import { expect, it } from 'vitest';
import { runFleet } from '../../bench/fleet/run-fleet.ts';

const TIME_MAX_MS = 480_000;

it(
  'a small fleet stays exact through a failover and a rolling restart, and hears every change',
  async () => {
    const { calm, disturbed, events, refusals, restarted, violations } = await runFleet({
      ...{ nodes: 6, processes: 2, accounts: 60, requestsPerS: 60, seconds: 1, changes: 2 },
      onStep: () => {},
    });
    expect(violations).toEqual([]);
    // Without these the fleet would prove nothing.
    expect(restarted).toBeGreaterThanOrEqual(6);
    expect(events.fullLimits).toBeGreaterThan(0);
    expect(events.settled).toBeGreaterThan(100);
    for (const refusal of ['rate_limited', 'too_many_at_once']) {
      expect(Object.keys(refusals), refusal).toContain(refusal);
    }
    for (const { revocations, catalogues } of [calm, disturbed]) {
      expect(revocations.flatMap(({ delaysMs }) => delaysMs)).not.toEqual([]);
      expect(catalogues.flatMap(({ delaysMs }) => delaysMs)).not.toEqual([]);
    }
  },
  TIME_MAX_MS,
);
