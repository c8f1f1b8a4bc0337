import { mintAccountId } from '../../src/keys/account-id.ts';
import { mintApiKey, mintKeyId } from '../../src/keys/api-key.ts';
import { BUCKETS } from '../../src/keys/bucket-tags.ts';
import { digestKey } from '../../src/keys/digest-key.ts';
import type { Random } from '../../test/proof/support/random.ts';
import type { ProofAccount, ProofKey } from '../../test/proof/support/world.ts';
import type { RequestPlans } from '../../test/support/limits/request-plans.ts';

export interface FleetKey extends ProofKey {
  readonly text: string;
}

/** The accounts in the order of their use: the first has the most requests. */
export interface FleetAccount extends ProofAccount {
  readonly keys: readonly FleetKey[];
}

export const WINDOW_MS = 10_000;
export const HELD_MICROS = 1_000;
/** Requests per window. The busiest accounts meet each of them. */
export const PLANS: RequestPlans = { starter: 10, pro: 40, business: 100, team: 400 };
const PLAN_NAMES = ['team', 'pro', 'business', 'starter'] as const;
const RICH_MICROS = 1e12;
const POOR_MICROS = 20_000;
const CAP_MICROS = 30_000;
const KEY_LIMIT = 15;
const IN_FLIGHT_MAX = 2;

/** Every third account is poor, and one of two keys of each has a cap and limits of its own. */
export function createFleetWorld(count: number, random: Random): FleetAccount[] {
  return Array.from({ length: count }, (_, rank) => {
    const bucket = random.int(0, BUCKETS - 1);
    const isPoor = rank % 3 === 2;
    return {
      accountId: mintAccountId(bucket, random.bytes),
      bucket,
      kind: isPoor ? 'tight' : 'rated',
      plan: PLAN_NAMES[rank % PLAN_NAMES.length] ?? 'team',
      balance: isPoor ? POOR_MICROS : RICH_MICROS,
      keys: [
        createKey(bucket, random, { cap: undefined, rpm: 0, inFlightMax: undefined }),
        createKey(bucket, random, { cap: CAP_MICROS, rpm: KEY_LIMIT, inFlightMax: IN_FLIGHT_MAX }),
      ],
    };
  });
}

function createKey(
  bucket: number,
  random: Random,
  limits: Pick<ProofKey, 'cap' | 'rpm' | 'inFlightMax'>,
): FleetKey {
  const keyId = mintKeyId(bucket, random.bytes);
  const text = mintApiKey(keyId, random.bytes);
  return { keyId, text, digest: digestKey(text), ...limits };
}

/** Picks the account of rank n with a probability that is proportional to 1/n. */
export function createZipfPick(world: readonly FleetAccount[], random: Random): () => FleetAccount {
  let sum = 0;
  const sums = world.map((_, index) => {
    sum += 1 / (index + 1);
    return sum;
  });
  return () => {
    const wanted = random.next() * sum;
    const index = sums.findIndex((each) => each > wanted);
    const account = world[index];
    if (account === undefined) throw new Error('there are no accounts');
    return account;
  };
}
