import { describe, expect, it } from 'vitest';
import { GROUP, openLists } from './list-scene.ts';
import { ACCOUNT, KEY, NOW_MS, redisKeys, requestNumber } from './open-scripts.ts';

const { scripts, ask, setKeyList, setGroup, expectLimit } = openLists();
const MINUTE_MS = 60_000;
const SLICE_MS = 1_000;

describe('levels', () => {
  it('are the key, its group and the account, and each of them holds', async () => {
    await setGroup('i,60000,50,b;');
    await setKeyList('i,60000,100,b;', { group: GROUP });
    await scripts.setAccount({ limits: 'i,60000,60,b;' });
    await ask(1, 30);
    await expectLimit(ask(2, 21), { level: 'group', amount: 50 });
    // Another key of the account is in no group.
    await scripts.send(
      'hset',
      redisKeys.key('03other'),
      'status',
      'active',
      'account',
      ACCOUNT,
      'digest',
      'other',
    );
    const other = { keyId: '03other', digest: 'other' };
    await expectLimit(ask(3, 31, 0, other), { level: 'account', amount: 60, countedAmount: 30 });
  });

  it('are told in one order where the waits are equal', async () => {
    await setGroup('t,60000,10,b;', 't,60000,10,b;');
    await setKeyList('t,60000,10,b;', { group: GROUP });
    await scripts.setAccount({ limits: 't,60000,10,b;' });
    const user = { user: 'digest-of-a-user', usersMax: 5 };
    await ask(1, 10, 0, user);
    await expectLimit(ask(2, 1, 0, user), { level: 'key' });
  });
});

describe('what refuses a request', () => {
  it('is told in one order, however many rules refuse it', async () => {
    const hold = { holdMicros: 100 };
    await setKeyList('i,d,200,b;');
    await scripts.setKey({ rpm: 1, in_flight_max: 1, cap: 150 });
    await scripts.setAccount({ balance: 150, limits: 'r,d,1,b;t,d,100,b;c,d,150,b;' });
    expect((await ask(1, 60, 0, hold)).kind).toBe('admitted');
    const tell = async (input = 50) => {
      const reply = await ask(2, input, 0, hold);
      return reply.kind === 'limit' ? reply.unit : reply.kind;
    };
    const told = [await tell(201), await tell()];
    await scripts.setKey({ rpm: 9 });
    told.push(await tell());
    await scripts.setKey({ in_flight_max: 9 });
    told.push(await tell());
    for (const limits of ['t,d,100,b;c,d,150,b;', 'c,d,150,b;', 'c,d,900,b;']) {
      await scripts.setAccount({ limits });
      told.push(await tell());
    }
    await setKeyList('');
    await scripts.setKey({ cap: 900 });
    told.push(await tell());
    await scripts.setAccount({ balance: 900 });
    expect([...told, await tell()]).toEqual([
      ...['too_large', 'rate', 'in_flight', 'requests', 'tokens', 'credits', 'cap', 'balance'],
      'admitted',
    ]);
  });
});

describe('end users', () => {
  const of = (user: string, usersMax = 5) => ({ user, usersMax });

  it('have each the limits of the template, that of the key before that of the group', async () => {
    await setGroup('', 'i,60000,5,b;');
    await setKeyList('', { group: GROUP, template: 'i,60000,10,b;' });
    await ask(1, 10, 0, of('one'));
    await expectLimit(ask(2, 1, 0, of('one')), { level: 'user', amount: 10 });
    expect((await ask(3, 10, 0, of('two'))).kind).toBe('admitted');
    await setKeyList('', { group: GROUP });
    await ask(4, 5, 0, of('one'));
    await expectLimit(ask(5, 1, 0, of('one')), { level: 'user', amount: 5, countedAmount: 5 });
  });

  it('are no more than the account may have, until one is forgotten', async () => {
    await setKeyList('', { template: 'i,60000,10,b;' });
    await ask(1, 1, 0, of('one', 1));
    expect(await ask(2, 1, 0, of('two', 1))).toEqual({ kind: 'users_full' });
    expect((await ask(3, 1, 0, of('one', 1))).kind).toBe('admitted');
    await scripts.setClock(NOW_MS + MINUTE_MS + 3 * SLICE_MS);
    await scripts.send('del', redisKeys.user(`${KEY}:one`));
    expect((await ask(4, 1, 0, of('two', 1))).kind).toBe('admitted');
    expect(await scripts.send('zrange', redisKeys.usersOf(ACCOUNT), 0, -1)).toEqual([`${KEY}:two`]);
  });

  it('are forgotten by Redis when nothing of them counts any more', async () => {
    await setKeyList('', { template: 'i,60000,10,b;' });
    const startMs = performance.now();
    await ask(1, 1, 0, of('one'));
    const left = Number(await scripts.send('pttl', redisKeys.user(`${KEY}:one`)));
    expect(left + performance.now() - startMs).toBeGreaterThan(MINUTE_MS);
    expect(left).toBeLessThanOrEqual(MINUTE_MS + 2 * SLICE_MS);
  });

  it('begin anew with all of their requests when they come back after that', async () => {
    await setKeyList('', { template: 'r,60000,40,b;' });
    const askOften = (from: number) =>
      scripts.admitTogether(
        Array.from({ length: 40 }, (_, n) => ({
          ...{ requestId: requestNumber(from + n), holdMicros: 0 },
          ...of('one'),
        })),
      );
    await askOften(100);
    await scripts.setClock(NOW_MS + MINUTE_MS + 3 * SLICE_MS);
    await scripts.send('del', redisKeys.user(`${KEY}:one`));
    const kinds = (await askOften(200)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(40);
    await expectLimit(ask(300, 0, 0, of('one')), { unit: 'requests', waitMs: MINUTE_MS });
  });

  it('must be named where the key or its group says so', async () => {
    await setGroup('');
    await setKeyList('', { group: GROUP, require: '1', template: 'i,60000,10,b;' });
    expect(await ask(1, 1)).toEqual({ kind: 'user_missing' });
    expect((await ask(2, 1, 0, of('one'))).kind).toBe('admitted');
  });

  it('leave nothing behind when they are forgotten', async () => {
    await setKeyList('', { template: 'r,60000,100,b;' });
    const life = async (redisKey: string) => Number(await scripts.send('pttl', redisKey));
    const startMs = performance.now();
    await scripts.admitTogether(
      Array.from({ length: 60 }, (_, n) => ({
        ...{ requestId: requestNumber(n), holdMicros: 0 },
        ...of('one'),
      })),
    );
    const logs = (await scripts.send('keys', `${redisKeys.prefix}log:*one*`)) as string[];
    expect(logs).toHaveLength(1);
    for (const redisKey of [...logs, redisKeys.user(`${KEY}:one`), redisKeys.usersOf(ACCOUNT)]) {
      const left = await life(redisKey);
      expect(left + performance.now() - startMs, redisKey).toBeGreaterThan(MINUTE_MS);
      expect(left, redisKey).toBeLessThanOrEqual(MINUTE_MS + 2 * SLICE_MS);
    }
  });

  it('are known to their account for as long as the one who is forgotten last', async () => {
    await setKeyList('', { template: 'i,3600000,10,b;' });
    await ask(1, 1, 0, of('one'));
    await setKeyList('', { template: 'i,60000,10,b;' });
    await ask(2, 1, 0, of('two'));
    const left = Number(await scripts.send('pttl', redisKeys.usersOf(ACCOUNT)));
    expect(left).toBeGreaterThan(59 * MINUTE_MS);
  });

  it('are all known for that long where their list had no end', async () => {
    await setKeyList('', { template: 'i,3600000,10,b;' });
    await ask(1, 1, 0, of('one'));
    await scripts.send('persist', redisKeys.usersOf(ACCOUNT));
    await setKeyList('', { template: 'i,1000,10,b;' });
    await ask(2, 1, 0, of('two'));
    const left = Number(await scripts.send('pttl', redisKeys.usersOf(ACCOUNT)));
    expect(left).toBeGreaterThan(59 * MINUTE_MS);
    expect(left).toBeLessThanOrEqual(62 * MINUTE_MS);
  });
});

describe('an end user that a call leaves out', () => {
  it('is asked for by a key that counts by end user alone', async () => {
    const told = { user: '?', usersMax: 5 };
    expect((await ask(1, 1, 0, told)).kind).toBe('admitted');
    await setKeyList('', { template: 't,d,10,b;' });
    expect(await ask(2, 1, 0, told)).toEqual({ kind: 'name_user' });
    expect((await ask(2, 1, 0, { ...told, user: 'ada' })).kind).toBe('admitted');
    await setKeyList('t,d,10,b;', { require: '1' });
    expect((await ask(3, 1, 0, told)).kind).toBe('admitted');
    expect(await ask(4, 1)).toEqual({ kind: 'user_missing' });
  });
});
