import { describe, expect, it } from 'vitest';
import { encodeLedgerUsage } from '../../../src/quota/settlement/settlement.ts';
import { createRandom } from '../../proof/support/random.ts';
import { DETAILS } from '../../support/request-details.ts';
import {
  ACCOUNT,
  KEY,
  NOW_MS,
  openScripts,
  redisKeys,
  requestNumber,
} from '../scripts/open-scripts.ts';
import {
  type Amounts,
  createModel,
  encodeList,
  type ModelLimit,
  type ModelRequest,
  type ModelSubject,
} from './list-model.ts';

const scripts = openScripts();
const GROUP = 'grp_03group';
const PLENTY = 1e15;
const STEPS = 1_500;
const SEEDS = 12;

const NO_USAGE = {
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  thinking: 0,
  searches: 0,
};
const packUsage = (input: number, output: number) =>
  encodeLedgerUsage({ ...NO_USAGE, input, output }, false, DETAILS);

const UNITS = {
  requests: 'r',
  tokens: 't',
  input_tokens: 'i',
  output_tokens: 'o',
  credits: 'c',
} as const;
const WINDOWS = { day: 'd', week: 'w', month: 'm' } as const;

function randomLimits(random: ReturnType<typeof createRandom>): ModelLimit[] {
  const limits = new Map<string, ModelLimit>();
  for (let i = random.int(0, 4); i > 0; i--) {
    const unit = random.pick(['r', 't', 'i', 'o', 'c'] as const);
    const window = random.pick([1_000, 10_000, 60_000, 3_600_000, 'd', 'w', 'm'] as const);
    const amount = unit === 'r' ? random.int(1, 20) : random.int(50, 30_000);
    limits.set(`${unit}${window}`, { unit, window, amount, blocks: random.chance(0.8) });
  }
  return [...limits.values()];
}

async function begin(random: ReturnType<typeof createRandom>) {
  const lists = {
    key: randomLimits(random),
    user: randomLimits(random),
    group: randomLimits(random),
    account: randomLimits(random),
  };
  const owner = random.chance(0.5) ? 'key' : 'group';
  const [keyTemplate, groupTemplate] =
    owner === 'key' ? [encodeList(lists.user), ''] : ['', encodeList(lists.user)];
  await scripts.send('flushall');
  await scripts.setClock(NOW_MS);
  await scripts.setAccount({
    status: 'active',
    plan: 'team',
    balance: PLENTY,
    version: 1,
    limits: encodeList(lists.account),
  });
  await scripts.setKey({
    status: 'active',
    account: ACCOUNT,
    digest: 'digest',
    version: 1,
    limits: `${GROUP}||${encodeList(lists.key)}|${keyTemplate}`,
  });
  await scripts.send(
    'hset',
    redisKeys.group(GROUP),
    'limits',
    `||${encodeList(lists.group)}|${groupTemplate}`,
  );
  const subjectsOf = (user: string): ModelSubject[] => [
    { level: 'key', id: KEY, limits: lists.key },
    ...(user === ''
      ? []
      : [{ level: 'user' as const, id: `user ${user}`, limits: lists.user.map((each) => each) }]),
    { level: 'group', id: GROUP, limits: lists.group },
    { level: 'account', id: ACCOUNT, limits: lists.account },
  ];
  return { random, subjectsOf, model: createModel() };
}

type Random = ReturnType<typeof createRandom>;
type Play = Awaited<ReturnType<typeof begin>>;

interface OpenRequest {
  readonly id: string;
  readonly extras: string;
  readonly request: ModelRequest;
}

const PAUSES_MS = [0, 0, 1, 7, 50, 400, 5_000, 61_000, 30 * 60_000];
const LONG_PAUSE_MS = 40 * 3_600_000;

function passTime(random: Random): number {
  return random.chance(0.005) ? LONG_PAUSE_MS : random.pick(PAUSES_MS);
}

/** Used is less or more than what was held. */
async function end({ model, random }: Play, ended: OpenRequest, now: number, where: string) {
  const { held } = ended.request;
  const [input, output] = [random.int(0, held.i + 30), random.int(0, held.o + 30)];
  const micros = random.int(0, held.c + 50);
  const used: Amounts = { r: 1, i: input, o: output, t: input + output, c: micros };
  const charged = model.settle(ended.request, used, now);
  const { id: requestId, extras } = ended;
  const settled = { requestId, extras, usage: packUsage(input, output) };
  expect(await scripts.settle(micros, settled), where).toMatchObject({ chargedMicros: charged });
}

function pickOrder(random: Random) {
  const [input, output] = [random.int(0, 200), random.int(0, 300)];
  const outputLeast = random.chance(0.5) ? output : random.int(0, output);
  const user = random.pick(['', 'u1', 'u2']);
  const [least, wanted] = random.chance(0.5) ? [0, random.int(0, 200)] : [50, 50];
  const needs: Amounts = { r: 1, i: input, o: outputLeast, t: input + outputLeast, c: least };
  return { user, input, output, outputLeast, wanted, least, needs };
}

type Order = ReturnType<typeof pickOrder>;
type Reply = Awaited<ReturnType<typeof scripts.admit>>;

/** Every limit has room, and what is held is as much as there is room for. */
function checkAdmitted(
  { model }: Play,
  { input, output, wanted, needs }: Order,
  subjects: readonly ModelSubject[],
  now: number,
  where: string,
): Amounts {
  let [outputHeld, micros] = [output, wanted];
  for (const subject of subjects) {
    for (const limit of subject.limits.filter(({ blocks }) => blocks)) {
      const room = model.roomAt(subject, limit, now);
      expect(room, where).toBeGreaterThanOrEqual(needs[limit.unit]);
      if (limit.unit === 'o') outputHeld = Math.min(outputHeld, room);
      if (limit.unit === 't') outputHeld = Math.min(outputHeld, room - input);
      if (limit.unit === 'c') micros = Math.min(micros, room);
    }
  }
  return { r: 1, i: input, o: outputHeld, t: input + outputHeld, c: micros };
}

/** The limit that is named has no room, and has it when the wait is over, not a moment before. */
function checkRefused(
  { model }: Play,
  { needs }: Order,
  subjects: readonly ModelSubject[],
  now: number,
  reply: Extract<Reply, { kind: 'limit' }>,
) {
  const where = JSON.stringify(reply);
  const unit = UNITS[reply.unit];
  const window = typeof reply.window === 'number' ? reply.window : WINDOWS[reply.window];
  const subject = subjects.find(({ level }) => level === reply.level);
  const isMet = (each: ModelLimit) => each.unit === unit && each.window === window && each.blocks;
  const limit = subject?.limits.find(isMet);
  if (subject === undefined || limit === undefined) throw new Error(`no such limit: ${where}`);
  expect(reply.countedAmount, where).toBe(model.countedAt(subject, limit, now));
  expect(reply.countedAmount + needs[unit], where).toBeGreaterThan(limit.amount);
  const end = now + reply.waitMs;
  expect(model.roomAt(subject, limit, end), where).toBeGreaterThanOrEqual(needs[unit]);
  expect(model.roomAt(subject, limit, end - 1), where).toBeLessThan(needs[unit]);
}

async function ask(play: Play, id: string, now: number, where: string) {
  const { random, model, subjectsOf } = play;
  const order = pickOrder(random);
  const { user, input, output, outputLeast, wanted, least, needs } = order;
  const subjects = subjectsOf(user);
  const reply = await scripts.admit({
    ...{ requestId: id, holdMicros: wanted, holdLeastMicros: least, leaseMs: 1e12 },
    ...{ user, usersMax: 10 },
    tokens: { input, output, outputLeast, isOutputOpen: false },
  });
  const blocking = subjects.flatMap((subject) =>
    subject.limits.filter(({ blocks }) => blocks).map((limit) => ({ subject, limit })),
  );
  let open: OpenRequest | undefined;
  if (reply.kind === 'admitted') {
    const held = checkAdmitted(play, order, subjects, now, where);
    expect(reply.heldMicros, where).toBe(held.c);
    if (reply.extras !== '') expect(reply.outputTokensRoom, where).toBe(held.o);
    open = { id, extras: reply.extras, request: model.admit(now, subjects, held) };
  } else if (reply.kind === 'limit') {
    checkRefused(play, order, subjects, now, reply);
  } else {
    expect(reply.kind, where).toBe('too_large');
    expect(blocking.some(({ limit }) => needs[limit.unit] > limit.amount)).toBe(true);
  }
  for (const { subject, limit } of blocking) {
    expect(model.inStretch(subject, limit, now), where).toBeLessThanOrEqual(limit.amount);
  }
  return { kind: reply.kind, open };
}

async function playOnce(seed: number): Promise<Map<string, number>> {
  const play = await begin(createRandom(seed));
  const { random } = play;
  const open: OpenRequest[] = [];
  const seen = new Map<string, number>();
  let now = NOW_MS;
  for (let step = 1; step <= STEPS; step++) {
    now += passTime(random);
    await scripts.setClock(now);
    const where = `seed ${seed} step ${step}`;
    const place = open.length > 0 && random.chance(0.5) ? random.int(0, open.length - 1) : -1;
    const [ended] = place < 0 ? [] : open.splice(place, 1);
    if (ended === undefined) {
      const asked = await ask(play, requestNumber(step), now, where);
      seen.set(asked.kind, (seen.get(asked.kind) ?? 0) + 1);
      if (asked.open !== undefined) open.push(asked.open);
    } else {
      await end(play, ended, now, where);
    }
  }
  return seen;
}

describe('lists of limits', () => {
  it('hold at every level, for every unit and window, as in a model that remembers everything', async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      for (const [kind, count] of await playOnce(seed))
        seen.set(kind, (seen.get(kind) ?? 0) + count);
    }
    for (const kind of ['admitted', 'limit', 'too_large']) {
      expect(seen.get(kind), kind).toBeGreaterThan(50);
    }
  });
});
