import { describe, expect, it } from 'vitest';
import { decodeLedgerUsage } from '../../../src/quota/settlement/settlement.ts';
import { GROUP, openLists, usageOf } from './list-scene.ts';
import { LEASE_MS, NOW_MS, REQUEST, redisKeys } from './open-scripts.ts';

const { scripts, setKeyList, setGroup } = openLists();
const IN_NO_LIST = `,${GROUP},`;
const TOKENS = { tokens: { input: 10, output: 20, outputLeast: 20, isOutputOpen: false } };

/** The usage of the newest entry; a reply keeps no bytes but those of a text. */
const READ_USAGE = `#!lua flags=no-writes
local usage = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][2][4]
return (string.gsub(usage, '.', function(byte) return string.format('%02x', string.byte(byte)) end))`;

async function readUsage() {
  const hex = await scripts.send('eval', READ_USAGE, 1, redisKeys.ledger);
  return decodeLedgerUsage(Buffer.from(String(hex), 'hex'));
}

async function admitInGroup() {
  const reply = await scripts.admit(TOKENS);
  if (reply.kind !== 'admitted') throw new Error(`it is ${reply.kind}`);
  return reply;
}

describe('a request in a group that counts in no list', () => {
  it('is told its group, and held as long as any other', async () => {
    await setGroup('');
    await setKeyList('', { group: GROUP });
    const admitted = await admitInGroup();
    expect(admitted).toMatchObject({ extras: IN_NO_LIST, nearLimits: [] });
    expect(admitted.outputTokensRoom).toBe(Number.MAX_SAFE_INTEGER);
    const again = await admitInGroup();
    expect(again).toEqual({ ...admitted, rate: again.rate });
    await scripts.renew(40, { extras: IN_NO_LIST });
    expect((await scripts.holds())[REQUEST]).toMatch(/\|40\|\|,grp_03group,$/);
  });

  it('keeps its group when a failover loses its hold', async () => {
    await setKeyList('', { group: GROUP });
    await admitInGroup();
    await scripts.send('del', redisKeys.holds);
    expect(await scripts.renew(40, { extras: IN_NO_LIST })).toBe('active');
    await scripts.settle(40, { extras: IN_NO_LIST, usage: usageOf(10, 20) });
    expect(await scripts.account()).toMatchObject({ balance: '960' });
  });

  it('is taken off no list that came while it ran', async () => {
    await setKeyList('', { group: GROUP });
    await admitInGroup();
    await setGroup('t,d,1000,b;');
    const second = await scripts.admit({ ...TOKENS, requestId: `${REQUEST.slice(0, -1)}2` });
    expect(second).toMatchObject({ kind: 'admitted', nearLimits: [{ left: 970 }] });
    await scripts.settle(40, { extras: IN_NO_LIST, usage: usageOf(10, 20) });
    const third = await scripts.admit({ ...TOKENS, requestId: `${REQUEST.slice(0, -1)}3` });
    expect(third).toMatchObject({ kind: 'admitted', nearLimits: [{ left: 940 }] });
  });
});

describe('what is charged when a lease has run out', () => {
  it.each([
    ['in no list', ''],
    ['in a list', 't,d,1000,b;'],
  ])('counts for the group of a request %s', async (_, list) => {
    await setGroup(list);
    await setKeyList('', { group: GROUP });
    await admitInGroup();
    await scripts.setClock(NOW_MS + LEASE_MS);
    await scripts.sweep();
    expect(await readUsage()).toEqual({
      counted: { groupId: GROUP, endUser: '' },
      usage: undefined,
      isEstimated: undefined,
      details: undefined,
    });
  });

  it('counts for the end user', async () => {
    await setKeyList('', { template: 't,d,1000,b;' });
    await scripts.admit({ ...TOKENS, user: 'digest-of-a-user', usersMax: 5 });
    await scripts.setClock(NOW_MS + LEASE_MS);
    await scripts.sweep();
    expect((await readUsage())?.counted).toEqual({
      groupId: '',
      endUser: '03thekey001:digest-of-a-user',
    });
  });

  it('has no usage where there is neither', async () => {
    await scripts.admit(TOKENS);
    await scripts.setClock(NOW_MS + LEASE_MS);
    await scripts.sweep();
    expect(await readUsage()).toBeUndefined();
  });
});
