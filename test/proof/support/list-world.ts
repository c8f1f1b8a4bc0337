import { mintAccountId } from '../../../src/keys/account-id.ts';
import { mintGroupId } from '../../../src/keys/group-id.ts';
import { NO_KEY_BOUNDS } from '../../../src/limits/encode-key-bounds.ts';
import { encodeLimits } from '../../../src/limits/encode-limits.ts';
import { LIMIT_UNITS, type Limit, type LimitUnit } from '../../../src/limits/limit.ts';
import type { PlanLimits } from '../../../src/protocol/admission.ts';
import type { Random } from './random.ts';
import { BUCKETS_USED, createKey, type ProofAccount } from './world.ts';

const [S, M, H] = [1_000, 60_000, 3_600_000];
const WINDOWS = [S, 10 * S, M, 5 * H, 'day', 'week', 'month'] as const;
/**
 * Redis forgets an end user by its own clock, which the proof does not set. So the shortest window
 * of one is longer than any step of the clock.
 */
const USER_WINDOWS = [10 * S, M, 5 * H, 'day', 'week', 'month'] as const;
const NO_LIMIT = 1_000_000;
const PLENTY = 1e12;
const LIMITS_MAX = 4;
const KINDS = [
  ...(['limited', 'limited', 'limited', 'limited', 'limited'] as const),
  ...(['tight', 'forced', 'lowered', 'shut'] as const),
] as const;

/** The shorter a window, the fewer requests make it full. */
export function randomAmount(unit: LimitUnit, window: Limit['window'], random: Random): number {
  const scale = typeof window === 'number' && window <= 10 * S ? 1 : 6;
  return scale * (unit === 'requests' ? random.int(3, 25) : random.int(200, 2_500));
}

function randomLimits(random: Random, windows: readonly Limit['window'][] = WINDOWS): Limit[] {
  const limits = new Map<string, Limit>();
  for (let left = random.int(0, LIMITS_MAX); left > 0; left--) {
    const [unit, window] = [random.pick(LIMIT_UNITS), random.pick(windows)];
    const action = random.chance(0.75) ? 'block' : 'warn';
    const amount = randomAmount(unit, window, random);
    limits.set(`${unit} ${window}`, { unit, window, amount, action });
  }
  return [...limits.values()];
}

/** Only requests of lists are limited; the first plan has none at all. */
export function createListPlans(random: Random): PlanLimits {
  const planOf = (limits: readonly Limit[]) => ({
    requests: NO_LIMIT,
    list: encodeLimits(limits),
  });
  return {
    team: planOf([]),
    pro: planOf(randomLimits(random)),
    starter: planOf(randomLimits(random)),
  };
}

/** Random trees of limits: accounts with plans and lists of their own, groups, keys, end users. */
export function createListWorld(random: Random): ProofAccount[] {
  const trees = BUCKETS_USED.flatMap((bucket) =>
    KINDS.map((kind) => createTree(bucket, kind, random)),
  );
  const plain = BUCKETS_USED.map((bucket) => ({
    ...{ accountId: mintAccountId(bucket, random.bytes), bucket, kind: 'lossy' as const },
    ...{ plan: 'team', balance: 5_000, keys: [createKey(bucket, random, { cap: 3_000 })] },
  }));
  return [...trees, ...plain];
}

function createTree(bucket: number, kind: (typeof KINDS)[number], random: Random): ProofAccount {
  const isLimited = kind === 'limited';
  const templateOf = () => (random.chance(0.6) ? randomLimits(random, USER_WINDOWS) : []);
  const groups = ['', ''].map(() => ({
    groupId: mintGroupId(bucket, random.bytes),
    bounds: { ...NO_KEY_BOUNDS, limits: randomLimits(random), userLimits: templateOf() },
  }));
  const keys = Array.from({ length: 4 }, (_, index) => {
    const bounds = {
      groupId: random.pick(['', ...groups.map(({ groupId }) => groupId)]),
      isUserRequired: index === 0,
      ...{ limits: randomLimits(random), userLimits: templateOf() },
    };
    return createKey(bucket, random, { bounds, ...(!isLimited && { cap: 3_000 }) });
  });
  return {
    ...{ accountId: mintAccountId(bucket, random.bytes), bucket, kind, keys, groups },
    ...{ plan: random.pick(['team', 'pro', 'starter']), limits: randomLimits(random) },
    balance: isLimited ? PLENTY : 5_000,
  };
}
