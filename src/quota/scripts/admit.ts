import { assert } from '../../lib/assert.ts';
import { isOfSameMinute } from '../../lib/request-id.ts';
import type { PlanLimits, TokenDemand } from '../../protocol/admission.ts';
import type { LimitState, MetLimit } from '../../protocol/rates/limit-state.ts';
import type { RateState } from '../../protocol/rates/rate-state.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { createGatherer } from '../../redis/create-gatherer.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { encodeNumbers } from '../encode-numbers.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';
import { decodeMetLimit } from './words/decode-met-limit.ts';
import { encodePlans } from './words/encode-plans.ts';
import { replyOf } from './words/reply-of.ts';

type Connection = Pick<RedisConnection, 'send'>;

export interface AdmitArguments {
  readonly bucket: number;
  readonly keyId: string;
  readonly digest: string;
  /** The pinned id, then its aliases. */
  readonly modelNames: readonly string[];
  readonly requestId: string;
  readonly holdMicros: number;
  /**
   * If less than `holdMicros` is free, this much is still enough to admit, and all that is free is
   * then held.
   */
  readonly holdLeastMicros: number;
  readonly leaseMs: number;
  readonly windowMs: number;
  readonly plans: PlanLimits;
  readonly tokens: TokenDemand;
  /** The digest of the end user; empty for none, `?` to ask first whether it counts. */
  readonly user: string;
  /** How many end users an account may have. */
  readonly usersMax: number;
  /** The share of a limit that blocks from which it warns. */
  readonly warnAtShare: number;
}

type LimitRefusal =
  | (MetLimit & {
      readonly kind: 'limit';
      readonly rate: RateState;
      /** Used and held together. */
      readonly countedAmount: number;
      readonly heldAmount: number;
      readonly waitMs: number;
      /** When nothing of the limit will count any more. */
      readonly resetMs: number;
    })
  | (MetLimit & { readonly kind: 'too_large'; readonly rate: RateState; readonly needed: number });

export type AdmitReply =
  | {
      readonly kind: 'admitted';
      readonly rate: RateState;
      readonly accountId: string;
      /**
       * The month of the admission by the server's clock, in UTC: `yyyymm`. The request is charged
       * to this month.
       */
      readonly month: string;
      readonly heldMicros: number;
      /** What the key could spend before this request, as if nothing was held. */
      readonly creditsMicros: number;
      /** What settling needs to correct the lists of limits; empty if there are none. */
      readonly extras: string;
      /** The longest output that limits of tokens leave room for. */
      readonly outputTokensRoom: number;
      /** The limit that has least left, of requests and of each unit of tokens. */
      readonly nearLimits: readonly LimitState[];
    }
  | LimitRefusal
  | { readonly kind: 'user_missing' | 'users_full' }
  | { readonly kind: 'name_user' }
  | { readonly kind: 'unknown' | 'revoked' | 'expired' | 'suspended' | 'model' | 'finished' }
  | {
      readonly kind: 'rate';
      readonly rate: RateState;
      readonly scope: 'key' | 'account';
      readonly waitMs: number;
    }
  | { readonly kind: 'in_flight'; readonly rate: RateState; readonly inFlightMax: number }
  | {
      readonly kind: 'cap';
      readonly rate: RateState;
      readonly capMicros: number;
      readonly spentMicros: number;
      readonly heldMicros: number;
    }
  | {
      readonly kind: 'balance';
      readonly rate: RateState;
      readonly balanceMicros: number;
      readonly heldMicros: number;
    };

export const UNTOLD_USER = '?';

const script = loadLuaScript(
  new URL('./admit.lua', import.meta.url),
  ['holds', 'whole'],
  ['plans'],
  ['asker', 'model_names', 'request_id', 'numbers'],
);

/**
 * Admits requests and holds the highest possible cost of each, or says why not. A call may be
 * repeated with the same id. Calls that come together share runs of the script.
 */
export function createGatheredAdmit(
  connection: Pick<RedisConnection, 'send' | 'atTurnEnd' | 'isCluster'>,
): (order: AdmitArguments) => Promise<AdmitReply> {
  const { isCluster } = connection;
  return createGatherer<AdmitArguments, Each, AdmitReply>({
    connection,
    canShare: (first, order) =>
      (!isCluster || first.bucket === order.bucket) &&
      first.windowMs === order.windowMs &&
      first.warnAtShare === order.warnAtShare &&
      first.plans === order.plans,
    isAlike: (first, order) =>
      first.keyId === order.keyId &&
      first.digest === order.digest &&
      first.bucket === order.bucket &&
      first.user === order.user &&
      isOfSameMinute(first.requestId, order.requestId),
    encode: encodeEach,
    runScript: (first, encoded) => callScript(connection, first, encoded),
    readReply,
  });
}

interface Each {
  readonly asker: string;
  readonly model_names: string;
  readonly request_id: string;
  readonly numbers: Buffer;
}

function encodeEach(order: AdmitArguments, isFirst: boolean): Each {
  const { modelNames, requestId, holdMicros, holdLeastMicros, leaseMs, tokens } = order;
  const { input, output, outputLeast, isOutputOpen } = tokens;
  return {
    asker: isFirst ? encodeAsker(order) : '',
    model_names: modelNames.join(','),
    request_id: requestId,
    numbers: encodeNumbers([
      ...[holdMicros, holdLeastMicros, leaseMs],
      ...[input, output, outputLeast, isOutputOpen ? 1 : 0],
    ]),
  };
}

function encodeAsker({ bucket, keyId, digest, user, usersMax }: AdmitArguments): string {
  const userField = user === '' || user === UNTOLD_USER ? user : `${user}|${usersMax}`;
  return `${keysOfBucket(bucket).prefix}\0${keyId}\0${digest}\0${userField}\0`;
}

function callScript(
  connection: Connection,
  { bucket, plans, windowMs, warnAtShare }: AdmitArguments,
  encoded: readonly Each[],
): Promise<unknown> {
  const [first, ...further] = encoded as readonly [Each, ...Each[]];
  const { holds, whole } = keysOfBucket(bucket);
  const keys = { holds, whole };
  const args = {
    plans: encodePlans(plans, windowMs, warnAtShare),
    asker: first.asker,
    model_names: first.model_names,
    request_id: first.request_id,
    numbers: first.numbers,
  };
  return script.call(connection, keys, args, further);
}

function readReply(reply: unknown, index: number, order: AdmitArguments): AdmitReply {
  const { windowMs, tokens } = order;
  const [kind, nowMs, limit, left, resetMs, ...rest] = replyOf(reply, index);
  const rate: RateState = {
    nowMs: Number(nowMs),
    limit: Number(limit),
    left: Number(left),
    resetMs: Number(resetMs),
    windowMs,
  };
  if (kind === 'invalid') assert(false, 'admit.lua takes the amounts that it is given');
  const number = (place: number) => Number(rest[place]);
  switch (kind) {
    case 'admitted':
      return {
        kind,
        rate,
        accountId: String(rest[0]),
        month: String(rest[1]),
        heldMicros: number(2),
        creditsMicros: number(3),
        extras: String(rest[4] ?? ''),
        outputTokensRoom: roomOf(tokens, rest[5]),
        nearLimits: readNearLimits(rest.slice(6)),
      };
    case 'limit':
      return {
        kind,
        rate,
        ...readMet(rest),
        countedAmount: number(4),
        heldAmount: number(5),
        waitMs: number(6),
        resetMs: number(7),
      };
    case 'too_large':
      return { kind, rate, ...readMet(rest), needed: number(4) };
    case 'rate':
      return { kind, rate, scope: rest[0] === 'key' ? 'key' : 'account', waitMs: number(1) };
    case 'in_flight':
      return { kind, rate, inFlightMax: number(0) };
    case 'cap':
      return { kind, rate, capMicros: number(0), spentMicros: number(1), heldMicros: number(2) };
    case 'balance':
      return { kind, rate, balanceMicros: number(0), heldMicros: number(1) };
    case 'unknown':
    case 'revoked':
    case 'expired':
    case 'suspended':
    case 'model':
    case 'finished':
    case 'user_missing':
    case 'users_full':
    case 'name_user':
      return { kind };
    default:
      assert(false, `admit.lua answers in the words of its header, not ${String(kind)}`);
  }
}

/** An output that is held in full, but may become longer, has unlimited room. */
function roomOf({ output, isOutputOpen }: TokenDemand, held: unknown): number {
  if (held === undefined) return Number.MAX_SAFE_INTEGER;
  return isOutputOpen && Number(held) >= output ? Number.MAX_SAFE_INTEGER : Number(held);
}

function readMet([level, unit, window, amount]: readonly unknown[]): MetLimit {
  return decodeMetLimit(String(level), String(unit), String(window), Number(amount));
}

const VALUES_OF_LIMIT = 6;

function readNearLimits(values: readonly unknown[]): LimitState[] {
  const states: LimitState[] = [];
  for (let i = 0; i < values.length; i += VALUES_OF_LIMIT) {
    const [left, resetMs] = [Number(values[i + 4]), Number(values[i + 5])];
    states.push({ ...readMet(values.slice(i)), left, resetMs });
  }
  return states;
}
