import { expect, it } from 'vitest';
import { decodeEvent } from '../../../src/events/limit-event.ts';
import { describeKey } from '../../../src/quota/scripts/describing/describe-key.ts';
import { openLists } from '../scripts/list-scene.ts';
import {
  ACCOUNT,
  BUCKET,
  KEY,
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
