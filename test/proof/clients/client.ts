import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRequestIdMint } from '../../../src/lib/request-id.ts';
import { monthOf } from '../../../src/lib/time/month.ts';
import type { PlanLimits } from '../../../src/protocol/admission.ts';
import type { AdmitArguments, AdmitReply } from '../../../src/quota/scripts/admit.ts';
import { renew } from '../../../src/quota/scripts/renew.ts';
import type { SettleReply } from '../../../src/quota/scripts/settle.ts';
import { encodeLedgerUsage, type Settlement } from '../../../src/quota/settlement/settlement.ts';
import { classifyRedisError } from '../../../src/redis/classify-redis-error.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { NO_LISTS } from '../../support/limits/no-lists.ts';
import { DETAILS } from '../../support/request-details.ts';
import type { EventLog, Tokens } from '../support/event-log.ts';
import type { Random } from '../support/random.ts';
import type { ProofAccount, ProofKey } from '../support/world.ts';

const mintRequestId = createRequestIdMint(randomBytes);

export interface ClientOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  /** Shared by all clients of the process. Their calls are gathered into one run of a script. */
  readonly admit: (order: AdmitArguments) => Promise<AdmitReply>;
  readonly settle: (settlement: Settlement) => Promise<SettleReply>;
  readonly world: readonly ProofAccount[];
  readonly random: Random;
  readonly log: EventLog;
  /** Part of every request id of this client. */
  readonly tag: string;
  readonly windowMs: number;
  readonly leaseMs: number;
  readonly plans: PlanLimits;
}

/** An admitted request. */
export interface OpenRequest {
  readonly account: ProofAccount;
  readonly key: ProofKey;
  readonly requestId: string;
  readonly month: string;
  readonly held: number;
  /** What it counts in lists of limits; empty if nothing. */
  readonly extras: string;
  /** The scripts' clock minus this machine's. */
  readonly aheadMs: number;
}

/** What a request may need of lists of limits. */
export type Demand = Pick<AdmitArguments, 'tokens' | 'user' | 'usersMax'>;

const MODEL = 'llm-proof-1';

/** The scripts as a client calls them. All calls and replies go into the client's log. */
export function createClient(options: ClientOptions) {
  const { connection, admit, settle, log, tag, windowMs, leaseMs, plans } = options;
  let minted = 0;

  const violate = (check: string, text: string) => log.add({ type: 'violation', check, text });

  const call = async <Reply>(ask: () => Promise<Reply>): Promise<Reply | undefined> => {
    try {
      return await ask();
    } catch (error) {
      const text = String(error);
      if (classifyRedisError(error) === 'fault') violate('a script fails', text);
      log.add({ type: 'failed', text });
      // A client whose calls fail at once would otherwise write a million lines.
      await sleep(50);
      return undefined;
    }
  };

  const noteRefusal = (keyId: string, order: AdmitArguments, reply: AdmitReply) => {
    const { kind } = reply;
    const least = order.holdLeastMicros;
    if (kind === 'rate') {
      const { nowMs, limit } = reply.rate;
      const { scope, waitMs } = reply;
      log.add({ type: 'refused', kind, keyId, nowMs, limit, scope, waitMs });
      return;
    }
    log.add({ type: 'refused', kind, keyId });
    if (kind === 'cap' && reply.capMicros - reply.spentMicros - reply.heldMicros >= least) {
      violate('I10', `the cap has room for ${least}: ${JSON.stringify(reply)}`);
    }
    if (kind === 'balance' && reply.balanceMicros - reply.heldMicros >= least) {
      violate('I10', `the balance has room for ${least}: ${JSON.stringify(reply)}`);
    }
  };

  const noteListRefusal = (order: AdmitArguments, reply: AdmitReply) => {
    if (reply.kind !== 'limit' && reply.kind !== 'too_large') return;
    const { input, outputLeast } = order.tokens;
    const need = {
      ...{ requests: 1, tokens: input + outputLeast, input_tokens: input },
      ...{ output_tokens: outputLeast, credits: order.holdLeastMicros },
    }[reply.unit];
    const counted = reply.kind === 'limit' ? reply.countedAmount : 0;
    if (counted + need <= reply.amount) {
      violate('I10', `the limit has room for ${need}: ${JSON.stringify(reply)}`);
    }
  };

  const admitOnce = async (
    account: ProofAccount,
    key: ProofKey,
    order: AdmitArguments,
    isRepeated: boolean,
  ): Promise<OpenRequest | AdmitReply | undefined> => {
    const askedMs = Date.now();
    const reply = await call(() => admit(order));
    const repliedMs = Date.now();
    if (reply === undefined) return undefined;
    if (reply.kind !== 'admitted') {
      noteRefusal(key.keyId, order, reply);
      noteListRefusal(order, reply);
      return reply;
    }
    const { requestId } = order;
    const { month, heldMicros: held, accountId } = reply;
    const { nowMs, limit, left } = reply.rate;
    const times = { askedMs, repliedMs, nowMs };
    const { keyId } = key;
    const { extras } = reply;
    const counted = { held, month, limit, left, extras, isRepeated };
    log.add({ type: 'admitted', requestId, keyId, ...times, ...counted });
    const isAnswer =
      held >= order.holdLeastMicros &&
      held <= order.holdMicros &&
      accountId === account.accountId &&
      (isRepeated || month === monthOf(nowMs));
    if (!isAnswer) violate('I10', `admitted ${JSON.stringify({ order, reply })}`);
    return { account, key, requestId, month, held, extras, aheadMs: nowMs - repliedMs };
  };

  return {
    /** Sends the same request `times` times at once, and returns the reply to the first call. */
    async admit(
      account: ProofAccount,
      key: ProofKey,
      hold: { readonly micros: number; readonly leastMicros: number },
      { times = 1, demand = NO_LISTS }: { readonly times?: number; readonly demand?: Demand } = {},
    ): Promise<OpenRequest | AdmitReply | undefined> {
      minted += 1;
      const requestId =
        mintRequestId(Date.now()).slice(0, 10) + tag + String(minted).padStart(12, '0');
      const order: AdmitArguments = {
        ...{ bucket: account.bucket, keyId: key.keyId, digest: key.digest, requestId },
        ...{ modelNames: [MODEL], holdMicros: hold.micros, holdLeastMicros: hold.leastMicros },
        ...{ leaseMs, windowMs, plans, warnAtShare: DEFAULT_WARNINGS.atShare, ...demand },
      };
      const { keyId } = key;
      if (demand !== NO_LISTS) log.add({ type: 'asking', requestId, keyId, tokens: demand.tokens });
      const replies = await Promise.all(
        Array.from({ length: times }, () => admitOnce(account, key, order, times > 1)),
      );
      return replies.find((reply) => reply !== undefined && 'held' in reply) ?? replies[0];
    },

    async renew(request: OpenRequest, seen: number) {
      const { account, key, requestId, month, held, extras, aheadMs } = request;
      log.add({ type: 'renewing', requestId, seen });
      const { accountId, bucket } = account;
      const who = { bucket, accountId, keyId: key.keyId, requestId, month };
      const lastKnownMs = Date.now() + aheadMs;
      const hold = { ...who, model: MODEL, extras, heldMicros: held, lastKnownMs };
      const reply = await call(() =>
        renew(connection, hold, { seenMicros: seen, leaseMs }, DEFAULT_WARNINGS),
      );
      if (reply !== undefined) log.add({ type: 'renewed', requestId, reply });
      return reply;
    },

    /** Settles the same request `times` times at once. */
    async settle(
      request: OpenRequest,
      actual: number,
      { times = 1, used }: { readonly times?: number; readonly used?: Tokens | undefined } = {},
    ): Promise<Settlement> {
      const { account, key, requestId, month, extras, aheadMs } = request;
      const charged: Settlement = {
        ...{ bucket: account.bucket, accountId: account.accountId, keyId: key.keyId },
        ...{ requestId, month, model: MODEL, extras, actualMicros: actual },
        lastKnownMs: Date.now() + aheadMs,
        usage: used === undefined ? Buffer.alloc(0) : packTokens(used),
      };
      log.add({ type: 'settling', requestId, actual, used });
      await Promise.all(Array.from({ length: times }, () => this.settleAgain(charged)));
      return charged;
    },

    async settleAgain(charged: Settlement): Promise<void> {
      const reply = await call(() => settle(charged));
      if (reply !== undefined) log.add({ type: 'settled', requestId: charged.requestId, reply });
    },
  };
}

export function packTokens(used: Tokens): Buffer {
  const nothing = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, thinking: 0, searches: 0 };
  return encodeLedgerUsage({ ...used, ...nothing }, false, DETAILS);
}

export type Client = ReturnType<typeof createClient>;
