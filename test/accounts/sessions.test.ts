import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createSessions, type Sessions } from '../../src/accounts/operators/sessions.ts';
import { ageTickets } from '../support/age-tickets.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
} from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { systemClock } from './use-directory.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SESSIONS = 'gw:{o}:sessions';
const SIGN_INS = 'gw:{o}:sign-ins';
const PERSON = {
  ...{ subject: 'u-1', name: 'Ada', issuer: 'https://login', clientId: 'c' },
  role: 'viewer' as const,
};
const SIGN_IN = { state: 'a', nonce: 'b', codeVerifier: 'c' };

let redis: TestRedisServer;
let sessions: Sessions;
const lives = { lifeMs: 8 * HOUR_MS, idleMs: HOUR_MS };
const open = () => {
  const connection = openConnection(standalone(tcp(redis.port)));
  return createSessions({ connection, randomBytes, clock: systemClock, ...lives });
};

beforeAll(async () => {
  redis = await startRedisServer();
  sessions = open();
});
beforeEach(async () => {
  await redis.cli('flushall');
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

it('a session that nobody uses for an hour ends', async () => {
  const { cookie } = await sessions.open(PERSON);
  await ageTickets(redis, SESSIONS, HOUR_MS - MINUTE_MS);
  expect(await sessions.list()).toHaveLength(1);
  await ageTickets(redis, SESSIONS, MINUTE_MS);
  expect(await sessions.list()).toEqual([]);
  expect(await sessions.find(cookie)).toBeUndefined();
});

it('a session that is used goes on, until its time is up for good', async () => {
  const { cookie, session } = await sessions.open(PERSON);
  for (let halves = 0; halves < 15; halves++) {
    await ageTickets(redis, SESSIONS, HOUR_MS / 2);
    expect(await sessions.find(cookie), `${halves} half hours`).toMatchObject({ name: 'Ada' });
  }
  await ageTickets(redis, SESSIONS, HOUR_MS / 2);
  expect(await sessions.find(cookie)).toBeUndefined();
  expect(session.untilMs - session.createdMs).toBeGreaterThan(7 * HOUR_MS);
});

it('a sign-in is taken once, by one of many who try at the same time', async () => {
  const others = [open(), open(), sessions];
  const { cookie } = await sessions.beginSignIn(SIGN_IN);
  const taken = await Promise.all(
    others.flatMap((each) => [each.takeSignIn(cookie), each.takeSignIn(cookie)]),
  );
  expect(taken.filter((each) => each !== undefined)).toEqual([SIGN_IN]);
});

it('a sign-in that takes too long has ended', async () => {
  const { cookie } = await sessions.beginSignIn(SIGN_IN);
  await ageTickets(redis, SIGN_INS, 10 * MINUTE_MS);
  expect(await sessions.takeSignIn(cookie)).toBeUndefined();
});

it('a failover brings back no sign-in that was taken, and no session that was left', async () => {
  const { cookie } = await sessions.beginSignIn(SIGN_IN);
  const { cookie: left } = await sessions.open(PERSON);
  const { cookie: revoked, session } = await sessions.open(PERSON);
  const { cookie: kept } = await sessions.open(PERSON);
  const lost = await Promise.all([SESSIONS, SIGN_INS].map((key) => redis.cli('hgetall', key)));
  expect(await sessions.takeSignIn(cookie)).toEqual(SIGN_IN);
  await sessions.end(left);
  await sessions.endById(session.id);
  // The new master never heard of these writes.
  for (const [at, key] of [SESSIONS, SIGN_INS].entries()) {
    await redis.cli('hset', key, ...(lost[at] ?? '').split('\n'));
  }
  expect(await open().find(left)).toBeDefined();
  await sessions.replayRecentWrites();
  expect(await sessions.takeSignIn(cookie)).toBeUndefined();
  expect(await sessions.find(left)).toBeUndefined();
  expect(await sessions.find(revoked)).toBeUndefined();
  expect(await sessions.find(kept)).toMatchObject({ name: 'Ada' });
});

it('Redis has no cookie', async () => {
  const { cookie } = await sessions.open(PERSON);
  const { cookie: begun } = await sessions.beginSignIn(SIGN_IN);
  const all = await Promise.all([SESSIONS, SIGN_INS].map((key) => redis.cli('hgetall', key)));
  expect(all.join()).toContain('Ada');
  for (const each of [cookie, begun]) expect(all.join()).not.toContain(each);
});
