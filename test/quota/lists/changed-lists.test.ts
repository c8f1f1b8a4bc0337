import { expect, it } from 'vitest';
import { createRandom, type Random } from '../../proof/support/random.ts';
import { GROUP, openLists, usageOf } from '../scripts/list-scene.ts';
import { NOW_MS, requestNumber } from '../scripts/open-scripts.ts';
import { encodeList, type ModelLimit, startOf } from './list-model.ts';

const STEPS = 1_500;
const SEED = Number(process.env['LIST_SEED'] ?? Date.now() % 1_000_000);
const LEVELS = ['key', 'group', 'account'] as const;
type Level = (typeof LEVELS)[number];
const UNITS = ['r', 't', 'c'] as const;
const WINDOWS = [10_000, 60_000, 'd', 'm'] as const;
const LONG_PAUSE_MS = 20 * 3_600_000;
const PLENTY = 1e15;

const { scripts, setKeyList, setGroup } = openLists();

interface Running {
  readonly requestId: string;
  readonly held: Readonly<Record<string, number>>;
  readonly entries: readonly Entry[];
}
/** What a request counts in one limit. */
interface Entry {
  readonly at: number;
  readonly unit: string;
  amount: number;
}
interface Watched {
  limit: ModelLimit;
  entries: Entry[];
}

/** Some limits in some order, no two of one unit and window. */
function randomList(random: Random): ModelLimit[] {
  const limits = new Map<string, ModelLimit>();
  for (let left = random.int(0, 4); left > 0; left--) {
    const [unit, window] = [random.pick(UNITS), random.pick(WINDOWS)];
    const amount = unit === 'r' ? random.int(3, 40) : random.int(100, 2_000);
    const limit = { unit, window, amount, amountMax: amount, blocks: random.chance(0.8) };
    limits.set(`${unit} ${window}`, limit);
  }
  return [...limits.values()];
}

/** The limits of one level as they are now, each with what it has counted since it was set. */
function watchLevel() {
  let watched = new Map<string, Watched>();
  return {
    all: () => [...watched.values()],
    replace(list: readonly ModelLimit[]) {
      const before = watched;
      watched = new Map(
        list.map((limit) => {
          const name = `${limit.unit} ${limit.window}`;
          const known = before.get(name);
          // The times of requests that block are no slices.
          const isOther = limit.unit === 'r' && known?.limit.blocks !== limit.blocks;
          return [name, { limit, entries: isOther ? [] : (known?.entries ?? []) }];
        }),
      );
    },
  };
}

function countedAt({ limit: { window }, entries }: Watched, now: number): number {
  const first = typeof window === 'number' ? now - window + 1 : startOf(now, window);
  return entries.reduce((sum, { at, amount }) => sum + (at >= first ? amount : 0), 0);
}

it('a limit is not passed by what came since it was set, however operators change lists meanwhile', async () => {
  console.log(`LIST_SEED=${SEED}`);
  const random = createRandom(SEED);
  const levels = { key: watchLevel(), group: watchLevel(), account: watchLevel() };
  const lists: Record<Level, readonly ModelLimit[]> = { key: [], group: [], account: [] };
  const earlier: Record<Level, ModelLimit[][]> = { key: [[]], group: [[]], account: [[]] };
  const running: Running[] = [];
  const counts: Record<string, number> = {};
  let now = NOW_MS;
  let asked = 0;
  await scripts.setAccount({ balance: PLENTY });

  const change = async () => {
    const level = random.pick(LEVELS);
    const isNew = random.chance(0.3);
    if (isNew) earlier[level] = [random.pick(earlier[level]), randomList(random)];
    // Most are taken off and set again as they were.
    lists[level] = random.chance(0.4) ? [] : random.pick(earlier[level]);
    levels[level].replace(lists[level]);
    await setKeyList(encodeList(lists.key), { group: GROUP });
    await setGroup(encodeList(lists.group));
    await scripts.setAccount({ limits: encodeList(lists.account) });
  };

  const ask = async () => {
    const orders = Array.from({ length: random.int(1, 8) }, () => {
      asked += 1;
      const [tokens, micros] = [random.int(0, 80), random.int(0, 80)];
      return { requestId: requestNumber(asked), tokens, micros };
    });
    const replies = await scripts.admitTogether(
      orders.map(({ requestId, tokens, micros }) => ({
        ...{ requestId, holdMicros: micros },
        tokens: { input: tokens, output: 0, outputLeast: 0, isOutputOpen: false },
      })),
    );
    orders.forEach(({ requestId, tokens, micros }, index) => {
      const kind = replies[index]?.kind ?? '';
      counts[kind] = (counts[kind] ?? 0) + 1;
      if (kind !== 'admitted') return;
      const held = { r: 1, t: tokens, c: micros };
      const entries = LEVELS.flatMap((level) =>
        levels[level].all().map((watched) => {
          const { limit } = watched;
          const entry = { at: now, unit: limit.unit, amount: held[limit.unit as 'r' | 't' | 'c'] };
          watched.entries.push(entry);
          const counted = countedAt(watched, now);
          // A limit that was lowered below what it counts refuses nobody who needs nothing of it.
          if (limit.blocks && entry.amount > 0)
            expect(counted, `${level} ${encodeList([limit])}`).toBeLessThanOrEqual(limit.amount);
          return entry;
        }),
      );
      running.push({ requestId, held, entries });
    });
  };

  const end = async () => {
    const [ended] = running.splice(random.int(0, running.length - 1), 1);
    if (ended === undefined) return;
    const { requestId, held, entries } = ended;
    const [tokens, micros] = [random.int(0, held['t'] ?? 0), random.int(0, held['c'] ?? 0)];
    for (const entry of entries) {
      if (entry.unit === 't') entry.amount = tokens;
      if (entry.unit === 'c') entry.amount = micros;
    }
    await scripts.settle(micros, { requestId, usage: usageOf(tokens, 0) });
  };

  for (let step = 0; step < STEPS; step++) {
    now += random.chance(0.01) ? LONG_PAUSE_MS : random.int(1, random.pick([20, 3_000]));
    await scripts.setClock(now);
    const dice = random.next();
    if (dice < 0.1) await change();
    else if (dice < 0.5 && running.length > 0) await end();
    else await ask();
  }
  console.log(JSON.stringify(counts));
  for (const kind of ['admitted', 'limit']) expect(counts[kind], kind).toBeGreaterThan(STEPS / 20);
});
