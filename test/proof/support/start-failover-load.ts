import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisTarget } from '../../../src/lib/address/redis-target.ts';
import { createRequestIdMint } from '../../../src/lib/request-id.ts';
import { createAskStore } from '../../../src/quota/ask-store.ts';
import { createGatheredAdmit } from '../../../src/quota/scripts/admit.ts';
import { createGatheredSettle } from '../../../src/quota/scripts/settle.ts';
import type { Settlement } from '../../../src/quota/settlement/settlement.ts';
import { createSettleQueue } from '../../../src/quota/settling/settle-queue.ts';
import { createBreaker } from '../../../src/redis/breaker.ts';
import { connectRedis } from '../../../src/redis/connect-redis.ts';
import { watchMasters } from '../../../src/redis/watch-masters.ts';
import { createBucketBreakers } from '../../../src/worker/create-bucket-breakers.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { packTokens } from '../clients/client.ts';
import type { ProofEvent } from './event-log.ts';
import { createRandom } from './random.ts';
import type { ProofAccount } from './world.ts';

const mintRequestId = createRequestIdMint(randomBytes);

/** Clients per account, so that an account without service delays no other. */
const CLIENTS = 3;
const ADMIT_TIMEOUT_MS = 700;
const SETTLE_TIMEOUT_MS = 1_000;
const HELD_MICROS = 1_000;
/** With these pauses the whole load is still some hundreds of requests a second. */
const PAUSE_MAX_MS = 60;
export const LEASE_MS = 2_000;
const PLAN_LIMIT = 1_000_000;
const TOKENS_MAX = 200;
const REPLAYED = 'settlements were sent again after a change of master';

const clock = { nowMs: () => Date.now() };

/** The connections, queue and clients of one worker, wired as in `worker/billing.ts`. */
export function startFailoverLoad(target: RedisTarget, world: readonly ProofAccount[]) {
  const log = createMemoryLog();
  const connect = (name: string, commandTimeoutMs: number) =>
    connectRedis({ target, name, commandTimeoutMs, log });
  const admitConnection = connect('admit', ADMIT_TIMEOUT_MS);
  const admit = createGatheredAdmit(admitConnection);
  const redis = connect('settle', SETTLE_TIMEOUT_MS);
  const create = () => createBreaker({ clock, random: Math.random });
  const breakerOf = createBucketBreakers(target, create(), create);
  const askStore = createAskStore({ breakerOf, random: Math.random });
  const random = createRandom(randomBytes(4).readUInt32LE());
  const asked: Settlement[] = [];
  const settled: string[] = [];
  const events: ProofEvent[] = [];
  const admittedAtMs = new Map<number, number[]>(world.map(({ bucket }) => [bucket, []]));
  let refused = 0;
  let sameCount = 0;
  let isStopped = false;

  const queue = createSettleQueue({
    settle: createGatheredSettle(redis, DEFAULT_WARNINGS),
    // There is no primary, so the queue keeps its settlements.
    handOver: () => Promise.reject(new Error('there is no primary')),
    onSettled: ({ kind }) => settled.push(kind),
    onDropped: () => {},
    clock,
    random: Math.random,
    log,
  });
  const masters = watchMasters({
    ...{ connection: redis, log },
    onChange: queue.replay,
    onSame(elapsedMs) {
      sameCount += 1;
      queue.noteSame(elapsedMs);
    },
  });

  const ask = async ({ accountId, bucket, keys }: ProofAccount): Promise<void> => {
    const { keyId, digest } = random.pick(keys);
    const requestId = mintRequestId(Date.now());
    const [input, output] = [random.int(1, TOKENS_MAX), random.int(1, TOKENS_MAX)];
    const tokens = { input, output, outputLeast: output, isOutputOpen: false };
    const order = {
      ...{ bucket, keyId, digest, requestId, modelNames: ['llm-proof-1'] },
      ...{ holdMicros: HELD_MICROS, holdLeastMicros: HELD_MICROS },
      ...{ leaseMs: LEASE_MS, windowMs: 1_000 },
      plans: { starter: 1, pro: 1, business: 1, team: PLAN_LIMIT },
      ...{ tokens, user: random.pick(['ada', 'bob']), usersMax: 2 },
      warnAtShare: DEFAULT_WARNINGS.atShare,
    };
    const askedMs = Date.now();
    events.push({ type: 'asking', requestId, keyId, tokens });
    const reply = await askStore(bucket, () => admit(order));
    if (reply.kind !== 'admitted') throw new Error(`not admitted: ${reply.kind}`);
    admittedAtMs.get(bucket)?.push(performance.now());
    const { extras, month, heldMicros: held } = reply;
    const { nowMs, limit, left } = reply.rate;
    const told = { askedMs, repliedMs: Date.now(), nowMs, held, month, limit, left, extras };
    events.push({ type: 'admitted', requestId, keyId, ...told, isRepeated: false });
    const used = { input: random.int(0, input + 50), output: random.int(0, output) };
    await sleep(random.int(1, PAUSE_MAX_MS));
    const settlement: Settlement = {
      ...{ bucket, accountId, keyId, requestId, month, model: 'llm-proof-1', extras },
      ...{ actualMicros: random.int(1, HELD_MICROS), lastKnownMs: Date.now() },
      usage: packTokens(used),
    };
    events.push({ type: 'settling', requestId, actual: settlement.actualMicros, used });
    asked.push(settlement);
    queue.add(settlement);
  };

  const runClient = async (account: ProofAccount): Promise<void> => {
    while (!isStopped) {
      await ask(account).catch(() => {
        refused += 1;
      });
      await sleep(random.int(1, PAUSE_MAX_MS));
    }
  };
  const clients = world.flatMap((account) =>
    Array.from({ length: CLIENTS }, () => runClient(account)),
  );

  const replays = () => log.lines.filter(({ message }) => message === REPLAYED);
  return {
    /** Every settlement that the queue was given. */
    asked: asked as readonly Settlement[],
    /** What the clients did and heard, for the checks of lists of limits. */
    events: events as readonly ProofEvent[],
    settledCount: () => settled.length,
    admittedCount: (bucket: number) => admittedAtMs.get(bucket)?.length ?? 0,
    refusedCount: () => refused,
    /** How often the masters were the same as at the look before. */
    sameCount: () => sameCount,
    /** How many settlements a failover had lost, as counted by the queue. */
    restoredCount: () => replays().reduce((sum, { fields }) => sum + Number(fields['restored']), 0),
    /** The longest time without an admission, by bucket. */
    outageMs: (bucket: number) =>
      Math.round(
        Math.max(
          ...(admittedAtMs.get(bucket) ?? []).map((time, n, all) => time - (all[n - 1] ?? time)),
        ),
      ),
    /** The log of outages and of settlements sent again. */
    log: log.lines,
    /** Stops the clients and waits until everything is settled. */
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(clients);
      await waitUntil(() => queue.depth === 0, 'everything is settled');
      masters.stop();
      queue.stop();
      await Promise.all([admitConnection.close(), redis.close()]);
    },
  };
}
