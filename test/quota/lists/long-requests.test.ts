import { expect, it } from 'vitest';
import { decodeEvent } from '../../../src/events/limit-event.ts';
import { describeKey } from '../../../src/quota/scripts/describing/describe-key.ts';
import { openLists, usageOf } from '../scripts/list-scene.ts';
import {
  ACCOUNT,
  BUCKET,
  KEY,
  LEASE_MS,
  NOW_MS,
  redisKeys,
  requestNumber,
  WINDOW_MS,
} from '../scripts/open-scripts.ts';

const { scripts, ask, setKeyList, expectLimit } = openLists();
const AFTER_ITS_WINDOW_MS = 62_000;

it('a request that runs for longer than its window holds no more than counts', async () => {
  await setKeyList('t,60000,1000,b;');
  await ask(1, 600);
  await scripts.setClock(NOW_MS + AFTER_ITS_WINDOW_MS);
  await scripts.renew(0, { requestId: requestNumber(1) });
  const question = { bucket: BUCKET, keyId: KEY, accountId: ACCOUNT, windowMs: WINDOW_MS };
  const { limits } = await describeKey(scripts.connection, { ...question, plans: { team: 1 } });
  expect(limits).toMatchObject([{ usedAmount: 0, heldAmount: 0 }]);
  await ask(2, 800);
  await expectLimit(ask(3, 201), { countedAmount: 800, heldAmount: 800 });
  const reply = await scripts.send('xrange', redisKeys.events, '-', '+');
  const events = (reply as [string, string[]][]).map(([, [, text]]) => decodeEvent(String(text)));
  expect(events).toMatchObject([
    { type: 'limit.warning', counted: 800, held: 800 },
    { type: 'limit.reached', counted: 800, held: 800 },
  ]);
});

/** A failover has lost its hold, so its tokens are held again as far as there is room: 30 of 80. */
async function renewInPart(requestId: string) {
  await setKeyList('t,d,100,b;');
  await ask(2, 70);
  const lost = { requestId, extras: `${NOW_MS},,,80,0,0` };
  expect(await scripts.renew(0, { ...lost, heldMicros: 0, leaseMs: LEASE_MS })).toBe('active');
  await scripts.settle(0, { requestId: requestNumber(2), usage: usageOf(70, 0) });
  await scripts.setClock(NOW_MS + LEASE_MS + 1);
  expect(await scripts.sweep()).toMatchObject({ swept: 1 });
  return { ...lost, usage: usageOf(10, 0) };
}

it('a request that ends late gives back no more tokens than a renewal could hold again', async () => {
  const late = await renewInPart(requestNumber(1));
  expect(await scripts.settle(0, late)).toMatchObject({ kind: 'late' });
  await expectLimit(ask(3, 21), { countedAmount: 80, heldAmount: 0 });
  expect((await ask(4, 20)).kind).toBe('admitted');
});

it('a request whose hold a node of the version before has swept ends as it was admitted', async () => {
  const late = await renewInPart(requestNumber(1));
  const done = redisKeys.done(late.requestId);
  const mark = String(await scripts.send('hget', done, late.requestId));
  await scripts.send('del', done);
  await scripts.send('hset', done, late.requestId, mark);
  expect(mark).toMatch(/^x\d+$/);
  expect(await scripts.settle(0, late)).toMatchObject({ kind: 'late' });
  await expectLimit(ask(3, 100), { countedAmount: 30 });
});
