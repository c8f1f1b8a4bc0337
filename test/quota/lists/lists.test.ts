import { describe, expect, it } from 'vitest';
import { sweep } from '../../../src/quota/scripts/sweep.ts';
import { createRandom, type Random } from '../../proof/support/random.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { BUCKET, NOW_MS, openScripts, redisKeys } from '../scripts/open-scripts.ts';
import { type Counts, openLane } from './list-lane.ts';

/** `npm run test:windows` makes a million, and a seed repeats the choices of a run. */
const OPERATIONS = Number(process.env['LIST_OPERATIONS'] ?? 20_000);
const SEED = Number(process.env['LIST_SEED'] ?? Date.now() % 1_000_000);
const LANES = 25;
const MS_PER_OPERATION_MAX = 3;

/** Each stretch of the run has a pace of its own, so that windows of every length are filled. */
const PACES_MS = [3, 300, 1_500, 20_000, 600_000];
const ROUNDS_PER_PACE = 20;
const SWEEP_SHARE = 0.1;
const LONG_PAUSE_MS = 40 * 3_600_000;
const TAKEN_MAX = 1_000;
/** The ledger is read by nobody here. */
const ROUNDS_PER_TRIM = 100;

const scripts = openScripts();

function createClock(random: Random) {
  let now = NOW_MS;
  let paceMs = 0;
  return (round: number) => {
    if (round % ROUNDS_PER_PACE === 1) paceMs = random.pick(PACES_MS);
    now += random.chance(0.02) ? LONG_PAUSE_MS : random.int(0, paceMs);
    return now;
  };
}

async function sweepAll() {
  const connection = { send: scripts.connection.send };
  while ((await sweep(connection, BUCKET, TAKEN_MAX, DEFAULT_WARNINGS)).isFull);
}

describe('lists of limits', () => {
  it(
    'hold at every level, for every unit and window, as in a model that remembers everything',
    async () => {
      console.log(`LIST_SEED=${SEED}`);
      const random = createRandom(SEED);
      const counts: Counts = {};
      const startedMs = performance.now();
      const lanes = await Promise.all(
        Array.from({ length: LANES }, (_, place) =>
          openLane(scripts, place, createRandom(SEED * LANES + place), counts),
        ),
      );
      const passTime = createClock(random);
      const operations = () => Object.values(counts).reduce((sum, count) => sum + count, 0);
      for (let round = 1; operations() < OPERATIONS; round++) {
        const now = passTime(round);
        await scripts.setClock(now);
        if (random.chance(SWEEP_SHARE)) {
          await sweepAll();
          for (const lane of lanes) lane.noteSweep(now);
        }
        await Promise.all(lanes.map((lane) => lane.step(now)));
        if (round % ROUNDS_PER_TRIM === 0) {
          await scripts.send('xtrim', redisKeys.ledger, 'maxlen', 0);
        }
      }
      for (const lane of lanes) {
        const balance = await scripts.send('hget', redisKeys.account(lane.accountId), 'balance');
        expect(Number(balance), lane.accountId).toBe(lane.balance());
      }
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      console.log(JSON.stringify({ operations: operations(), seconds, ...counts }));
      // A run proves nothing about what did not happen.
      for (const kind of [
        'admitted',
        'limit',
        'too_large',
        'charge',
        'expired',
        'late',
        'renewed',
        'gone',
      ]) {
        expect(counts[kind], kind).toBeGreaterThan(OPERATIONS / 1_000);
      }
    },
    60_000 + OPERATIONS * MS_PER_OPERATION_MAX,
  );
});
