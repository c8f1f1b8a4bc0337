import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { createRandom, type Random } from '../proof/support/random.ts';
import { admin } from '../support/clients/admin.ts';
import { askGateway, type ClientFormat, type Told } from '../support/clients/ask-gateway.ts';
import { readEntries } from '../support/ledger/read-entries.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startGateway } from '../support/servers/start-gateway.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import {
  CLOSE,
  RESET,
  type ScriptedRequest,
  type Step,
  type Steps,
  startScriptedUpstream,
} from '../support/upstreams/start-scripted-upstream.ts';
import { goodAnswer, type UpstreamKind } from '../support/upstreams/upstream-answers.ts';
import { priceOf } from '../support/upstreams/use-upstream-scene.ts';
import { useCleanUp } from '../support/use-clean-up.ts';

const cleanUp = useCleanUp();
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

const KINDS = ['native', 'chat', 'responses'] as const;
const FORMATS: readonly ClientFormat[] = ['native', 'chat', 'responses'];
const SEED = Number(process.env['UPSTREAM_SEED'] ?? Date.now() % 1_000_000);
const SCHEDULES = Number(process.env['UPSTREAM_SCHEDULES'] ?? 240);
const AT_ONCE = 12;
/** Each is out for a while when it has failed often; others are asked meanwhile. */
const UPSTREAMS_OF_A_KIND = 20;
const CREDITS = 1_000;
/** More than the gateway would count itself. */
const TOLD = { input: 40, output: 60 };
const TEXT = 'One word after the other, until all is said.';
const MICROS = 1e6;

/** What becomes of an answer on its way. */
const FATES = [
  ...['whole', 'whole', 'in pieces', 'late', 'head drips'],
  ...['reset', 'closed', 'stalled', 'too short', 'too long', 'garbage', 'said twice'],
] as const;
type Fate = (typeof FATES)[number];

const isHarmless = (fate: Fate) => ['whole', 'in pieces', 'late', 'head drips'].includes(fate);

interface Schedule {
  readonly number: number;
  readonly kind: UpstreamKind;
  readonly upstream: number;
  readonly format: ClientFormat;
  readonly isStream: boolean;
  readonly fate: Fate;
  /** Where in the answer it happens, from 0 to 1. */
  readonly place: number;
}

function drawSchedule(random: Random, number: number): Schedule {
  return {
    ...{ number, kind: random.pick(KINDS), upstream: random.int(1, UPSTREAMS_OF_A_KIND) },
    ...{ format: random.pick(FORMATS), isStream: random.int(0, 1) === 1 },
    ...{ fate: random.pick(FATES), place: random.int(0, 999) / 1_000 },
  };
}

async function* play({ kind, fate, place }: Schedule, { body }: ScriptedRequest): Steps {
  const isStream = /"stream":\s*true/.test(body);
  const answer = goodAnswer(kind, isStream, TEXT, TOLD);
  const at = Math.floor(place * answer.length);
  const [before, after] = [answer.slice(0, at), answer.slice(at)];
  const ends: Partial<Record<Fate, readonly Step[]>> = {
    reset: [before, RESET],
    closed: [before, CLOSE],
    stalled: [before],
    garbage: [before, '\u0000{"]}\r\n\r\ndata: [', after],
    'said twice': [answer, answer, CLOSE],
    'too short': [changeLength(answer, 17), CLOSE],
    'too long': [changeLength(answer, -17), CLOSE],
  };
  const steps = ends[fate];
  if (steps !== undefined) {
    yield* steps;
  } else if (fate === 'whole') {
    yield answer;
  } else if (fate === 'late') {
    await sleep(300 * place);
    yield answer;
  } else {
    const dripped = fate === 'head drips' ? answer.indexOf('\r\n\r\n') : answer.length;
    const size = fate === 'head drips' ? 16 : 1 + Math.floor(place * 200);
    for (let from = 0; from < dripped; from += size) {
      yield answer.slice(from, Math.min(from + size, dripped));
    }
    yield answer.slice(dripped);
  }
}

/** Of an answer without a length, the first chunk says too much or too little. */
function changeLength(answer: string, by: number): string {
  const [length] = /(?<=content-length: )\d+/.exec(answer) ?? [];
  if (length !== undefined) return answer.replace(length, `${Number(length) + by}`);
  return answer.replace(/(?<=\r\n\r\n)[0-9a-f]+/, (size) =>
    Math.max(1, Number.parseInt(size, 16) + by).toString(16),
  );
}

function describeConfig(url: string): string {
  const times = '{connect: 2s, first_byte: 2s, idle: 2s, total: 20s}';
  const names = KINDS.flatMap((kind) =>
    Array.from({ length: UPSTREAMS_OF_A_KIND }, (_, index) => ({
      kind,
      name: `${kind}-${index + 1}`,
    })),
  );
  return [
    'workers: 1',
    'models:',
    ...names.map(
      ({ name }) =>
        `  - {id: ${name}, max_output_tokens: 1000, price: {input: 500, output: 100000}, routes: [{upstream: ${name}}]}`,
    ),
    'upstreams:',
    ...names.map(
      ({ kind, name }) =>
        `  - {name: ${name}, kind: ${kind}, url: "${url}/${name}", api_key: vendor-key, timeouts: ${times}}`,
    ),
    '',
  ].join('\n');
}

interface Ended {
  readonly schedule: Schedule;
  /** Undefined if the gateway broke off without an error. */
  readonly told: Told | undefined;
}

/** Tells a connection that broke off from an answer that is wrong. */
function isBrokenOff(error: Error): boolean {
  return error instanceof TypeError && error.cause !== undefined;
}

it(`every request ends, and is charged once by what was delivered or told, whatever upstreams do (seed ${SEED})`, async () => {
  const upstream = await startScriptedUpstream(cleanUp);
  const gateway = await startGateway({ config: describeConfig(upstream.url), cleanUp });
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: CREDITS });
  const { key } = await operator.createKey(account);
  const random = createRandom(SEED);
  const schedules = Array.from({ length: SCHEDULES }, (_, number) => drawSchedule(random, number));
  for (const kind of KINDS) {
    for (let index = 1; index <= UPSTREAMS_OF_A_KIND; index += 1) {
      upstream.play(`/${kind}-${index}`, (_, request) => {
        const number = Number(/schedule (\d+)\./.exec(request.body)?.[1]);
        const schedule = schedules[number];
        if (schedule === undefined) throw new Error(`no schedule for ${request.body}`);
        return play(schedule, request);
      });
    }
  }

  const ended: Ended[] = [];
  const waiting = [...schedules];
  const askAll = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { number, kind, upstream: place, format, isStream } = next;
      const question = { url: gateway.url, key, model: `${kind}-${place}`, format, isStream };
      const prompt = `Play schedule ${number}.`;
      const told = await askGateway({ ...question, prompt }).catch((error: Error) => {
        if (isBrokenOff(error)) return undefined;
        throw new Error(`schedule ${JSON.stringify(next)}`, { cause: error });
      });
      ended.push({ schedule: next, told });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askAll));
  await operator.waitUntilSettled(account);
  await operator.waitForBooks();

  const store = openConnection(
    standalone({ kind: 'unix', path: join(gateway.dataDir, 'redis.sock') }),
  );
  await waitForRedis(store);
  const entries = (await readEntries({ store, gateway, account })).filter(
    ({ kind }) => kind !== 'topup',
  );
  const requests = new Set(entries.map(({ request }) => request));
  expect(requests.size).toBe(entries.length);
  expect(ended).toHaveLength(SCHEDULES);
  const chargedOf = new Map(entries.map(({ request, charged }) => [request, charged]));
  const price = Math.round(priceOf(TOLD) * MICROS);
  // Also of those that broke off, whose ids nobody knows.
  for (const { request, charged } of entries) expect(charged, request).toBeLessThanOrEqual(price);
  for (const { schedule, told } of ended) {
    const charged = chargedOf.get(told?.headers.get('request-id') ?? '') ?? 0;
    const what = JSON.stringify({ schedule, status: told?.status, error: told?.error, charged });
    // Nobody pays more than the upstream said, and nobody for nothing.
    expect(charged, what).toBeLessThanOrEqual(price);
    if (told !== undefined && told.text !== '') expect(charged, what).toBeGreaterThan(0);
    if (told?.isComplete === true) expect(charged, what).toBeGreaterThan(0);
    if (told?.isComplete === true && isHarmless(schedule.fate)) expect(charged, what).toBe(price);
    if (told?.text === '' && told.status !== 200) expect(told.error, what).toBeDefined();
  }
  const whole = ended.filter(({ told }) => told?.isComplete === true);
  // Otherwise the schedules would prove nothing.
  expect(whole.length).toBeGreaterThan(SCHEDULES / 10);
  expect(whole.length).toBeLessThan(SCHEDULES);
  const spent = entries.reduce((sum, { charged }) => sum + charged, 0);
  const { balance, held } = await operator.account(account);
  expect(held).toBe(0);
  expect(balance).toBeCloseTo(CREDITS - spent / MICROS, 6);
});
