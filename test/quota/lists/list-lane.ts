import type { AdmitArguments, AdmitReply } from '../../../src/quota/scripts/admit.ts';
import { encodeLedgerUsage, type Settlement } from '../../../src/quota/settlement/settlement.ts';
import type { Random } from '../../proof/support/random.ts';
import { DETAILS } from '../../support/request-details.ts';
import type { OpenScripts } from '../scripts/open-scripts.ts';
import {
  type Amounts,
  createModel,
  type ModelLimit,
  type ModelRequest,
  type ModelSubject,
} from './list-model.ts';
import { plantTree, type TreeKey } from './list-tree.ts';

const UNITS = {
  requests: 'r',
  tokens: 't',
  input_tokens: 'i',
  output_tokens: 'o',
  credits: 'c',
} as const;
const WINDOWS = { day: 'd', week: 'w', month: 'm' } as const;
const LEASE_MS = 15_000;
const TOGETHER_MAX = 3;

interface LaneRequest {
  readonly id: string;
  readonly key: TreeKey;
  readonly month: string;
  readonly extras: string;
  readonly model: ModelRequest;
  seenMicros: number;
  dueMs: number;
}

interface Order {
  readonly input: number;
  readonly output: number;
  readonly outputLeast: number;
  readonly wanted: number;
  readonly least: number;
  readonly isSoft: boolean;
  readonly needs: Amounts;
}

function pickOrder(random: Random, isSoft: boolean): Order {
  const [input, output] = [random.int(0, 200), random.int(0, 300)];
  const outputLeast = isSoft || random.chance(0.5) ? output : random.int(0, output);
  const [least, wanted] = random.chance(0.5) ? [0, random.int(0, 200)] : [50, 50];
  const needs = { r: 1, i: input, o: outputLeast, t: input + outputLeast, c: least };
  return { input, output, outputLeast, wanted, least, isSoft, needs };
}

/** Of the input any part may come from a cache, or go into one. */
function randomUsage(allInput: number, output: number, random: Random): Buffer {
  const cacheRead = random.int(0, allInput);
  const cacheWrite5m = random.int(0, allInput - cacheRead);
  const cacheWrite1h = random.int(0, allInput - cacheRead - cacheWrite5m);
  const input = allInput - cacheRead - cacheWrite5m - cacheWrite1h;
  const inputs = { input, cacheRead, cacheWrite5m, cacheWrite1h };
  return encodeLedgerUsage({ ...inputs, output, thinking: 0, searches: 0 }, false, DETAILS);
}

function blockingOf(subjects: readonly ModelSubject[]) {
  return subjects.flatMap((subject) =>
    subject.limits.filter(({ blocks }) => blocks).map((limit) => ({ subject, limit })),
  );
}

export type Counts = Record<string, number>;

/** One account with its own model, which makes one step after the other. */
export async function openLane(
  scripts: OpenScripts,
  place: number,
  random: Random,
  counts: Counts,
) {
  const name = `n${String(place).padStart(3, '0')}`;
  const tree = await plantTree(scripts, name, random);
  const model = createModel();
  const open: LaneRequest[] = [];
  const expired: LaneRequest[] = [];
  // Requests whose output may become longer may pass limits of tokens, so other lanes have none.
  const hasSoft = random.chance(0.3);
  let asked = 0;
  let charged = 0;

  const count = (kind: string) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  const must = (isTrue: boolean, text: () => unknown) => {
    if (!isTrue) throw new Error(`lane ${place}, request ${asked}: ${JSON.stringify(text())}`);
  };

  /** Every limit has room, and what is held is as much as there is room for. */
  const checkAdmitted = (order: Order, subjects: readonly ModelSubject[], now: number): Amounts => {
    const { input, output, wanted, needs } = order;
    let [outputHeld, micros] = [output, wanted];
    for (const { subject, limit } of blockingOf(subjects)) {
      const { unit } = limit;
      // A limit that was passed has none, and refuses nobody who needs nothing of it.
      const room = Math.max(0, model.roomAt(subject, limit, now));
      must(needs[unit] === 0 || room >= needs[unit], () => ({
        admitted: order,
        subject: subject.id,
        limit,
        room,
      }));
      if (unit === 'o') outputHeld = Math.min(outputHeld, room);
      if (unit === 't') outputHeld = Math.min(outputHeld, Math.max(0, room - input));
      if (unit === 'c') micros = Math.min(micros, room);
    }
    return { r: 1, i: input, o: outputHeld, t: input + outputHeld, c: micros };
  };

  /** The limit that is named has no room, and has it when the wait is over, not a moment before. */
  const checkRefused = (
    { needs }: Order,
    subjects: readonly ModelSubject[],
    now: number,
    reply: Extract<AdmitReply, { kind: 'limit' }>,
  ) => {
    const unit = UNITS[reply.unit];
    const window = typeof reply.window === 'number' ? reply.window : WINDOWS[reply.window];
    const subject = subjects.find(({ level }) => level === reply.level);
    const isMet = (each: ModelLimit) => each.unit === unit && each.window === window && each.blocks;
    const limit = subject?.limits.find(isMet);
    if (subject === undefined || limit === undefined) {
      return must(false, () => ({ 'no such limit': reply }));
    }
    const end = now + reply.waitMs;
    const seen = {
      counted: model.countedAt(subject, limit, now),
      held: model.heldAt(subject, limit, now),
      atEnd: model.roomAt(subject, limit, end),
      before: model.roomAt(subject, limit, end - 1),
    };
    const isRight =
      reply.amount === limit.amount &&
      needs[unit] > 0 &&
      reply.countedAmount === seen.counted &&
      reply.heldAmount === seen.held &&
      seen.counted + needs[unit] > limit.amount &&
      seen.atEnd >= needs[unit] &&
      seen.before < needs[unit];
    must(isRight, () => ({ refused: reply, needs, seen }));
  };

  const isSoftUnit = (limit: ModelLimit) => hasSoft && 'tio'.includes(limit.unit);
  const checkStretches = (subjects: readonly ModelSubject[], now: number) => {
    for (const { subject, limit } of blockingOf(subjects)) {
      const used = isSoftUnit(limit) ? 0 : model.inStretch(subject, limit, now);
      must(used <= limit.amountMax, () => ({ passed: subject.id, limit, used }));
    }
  };

  const noteReply = (
    {
      order,
      key,
      id,
      subjects,
    }: { order: Order; key: TreeKey; id: string; subjects: readonly ModelSubject[] },
    reply: AdmitReply,
    now: number,
  ) => {
    count(reply.kind);
    if (reply.kind === 'admitted') {
      const held = checkAdmitted(order, subjects, now);
      const { month, extras } = reply;
      must(reply.heldMicros === held.c, () => ({ reply, held }));
      const countsInLists = /^\d/.test(extras);
      const isFree = !countsInLists || (order.isSoft && held.o === order.output);
      const room = isFree ? Number.MAX_SAFE_INTEGER : held.o;
      must(reply.outputTokensRoom === room, () => ({ reply, held }));
      const request = model.admit(now, subjects, held, order.isSoft);
      open.push({ id, key, month, extras, model: request, seenMicros: 0, dueMs: now + LEASE_MS });
    } else if (reply.kind === 'limit') {
      checkRefused(order, subjects, now, reply);
    } else {
      must(reply.kind === 'too_large', () => ({ reply, order }));
    }
    const isTooLarge = blockingOf(subjects).some(
      ({ limit }) => order.needs[limit.unit] > limit.amount,
    );
    must(isTooLarge === (reply.kind === 'too_large'), () => ({ reply, order }));
  };

  /** Some requests of one key and one end user, which share a run of the script. */
  const ask = async (now: number) => {
    const key = random.pick(tree.keys);
    const user = random.pick(['', 'u1', 'u2']);
    const subjects = key.subjectsOf(user);
    const all = Array.from({ length: random.int(1, TOGETHER_MAX) }, () => {
      asked += 1;
      const id = `req_00${name}${String(asked).padStart(18, '0')}`;
      return { order: pickOrder(random, hasSoft && random.chance(0.5)), key, id, subjects };
    });
    const orders = all.map(({ order, id }): Partial<AdmitArguments> => {
      const { input, output, outputLeast, wanted, least, isSoft } = order;
      return {
        ...{ keyId: key.keyId, requestId: id, plans: tree.plans, user, usersMax: 10 },
        ...{ holdMicros: wanted, holdLeastMicros: least, leaseMs: LEASE_MS },
        tokens: { input, output, outputLeast, isOutputOpen: isSoft },
      };
    });
    const replies = await scripts.admitTogether(orders);
    replies.forEach((reply, index) => {
      const one = all[index];
      if (one !== undefined) noteReply(one, reply, now);
    });
    checkStretches(subjects, now);
  };

  /** Used is less or more than what was held. */
  const end = async (ended: LaneRequest, now: number) => {
    const { id: requestId, key, month, extras, model: request } = ended;
    const { held } = request;
    const [input, output] = [random.int(0, held.i + 30), random.int(0, held.o + 30)];
    const micros = random.int(0, held.c + 50);
    const used: Amounts = { r: 1, i: input, o: output, t: input + output, c: micros };
    const kind = request.isExpired ? 'late' : micros === 0 ? 'release' : 'charge';
    const expected = model.settle(request, used, now);
    charged += expected;
    const settlement: Partial<Settlement> = {
      ...{ accountId: tree.accountId, keyId: key.keyId, requestId, month, extras },
      ...{ lastKnownMs: now, actualMicros: micros, usage: randomUsage(input, output, random) },
    };
    // The second one in the same run changes nothing.
    const [reply, again] = await scripts.settleTogether([settlement, settlement]);
    count(kind);
    const isRight = reply?.kind === kind && reply.chargedMicros === expected;
    must(isRight && again?.kind === 'repeated', () => ({
      reply,
      again,
      kind,
      expected,
      used,
      held,
    }));
    checkStretches(tree.subjects, now);
  };

  const renew = async (renewed: LaneRequest, now: number) => {
    const { id: requestId, key, month, extras, model: request } = renewed;
    const seenMicros = random.int(0, request.held.c);
    const hold = { accountId: tree.accountId, keyId: key.keyId, requestId, month, extras };
    const more = { ...hold, heldMicros: request.held.c, leaseMs: LEASE_MS, lastKnownMs: now };
    const reply = await scripts.renew(seenMicros, more);
    must(reply === (request.isExpired ? 'gone' : 'active'), () => ({ reply, requestId }));
    if (!request.isExpired) [renewed.seenMicros, renewed.dueMs] = [seenMicros, now + LEASE_MS];
    count(request.isExpired ? 'gone' : 'renewed');
  };

  const takeOne = (requests: LaneRequest[]) =>
    requests.splice(random.int(0, requests.length - 1), 1)[0];

  return {
    async step(now: number): Promise<void> {
      model.forgetBefore(tree.subjects, now);
      const running = [...open, ...expired];
      const dice = random.next();
      if (dice < 0.01) await tree.change(random);
      const ended =
        dice < 0.2 && expired.length > 0
          ? takeOne(expired)
          : dice < 0.42 && open.length > 0
            ? takeOne(open)
            : undefined;
      if (ended !== undefined) await end(ended, now);
      else if (dice < 0.5 && running.length > 0) await renew(random.pick(running), now);
      else await ask(now);
    },
    /** A sweep has ended what nobody renewed in time. */
    noteSweep(now: number): void {
      for (const request of open.filter(({ dueMs }) => dueMs <= now)) {
        open.splice(open.indexOf(request), 1);
        model.expire(request.model, request.seenMicros);
        charged += request.model.charged;
        count('expired');
        // Of some nothing is heard any more: their worker is dead.
        if (random.chance(0.7)) expired.push(request);
      }
    },
    accountId: tree.accountId,
    balance: () => tree.balanceAtStart - charged,
  };
}
