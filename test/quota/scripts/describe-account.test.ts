import { describe, expect, it } from 'vitest';
import { describeAccount } from '../../../src/quota/scripts/describing/describe-account.ts';
import {
  ACCOUNT,
  BUCKET,
  NOW_MS,
  openScripts,
  redisKeys,
  requestNumber,
  WINDOW_MS,
} from './open-scripts.ts';

const scripts = openScripts('describing/describe-account');
const GROUP = 'grp_03group';
const PLANS = {
  starter: 2,
  team: { requests: 1_000, list: 't,60000,50,b;' },
};

const ask = (groupId = '') =>
  describeAccount(scripts.connection, {
    bucket: BUCKET,
    accountId: ACCOUNT,
    groupId,
    windowMs: WINDOW_MS,
    plans: PLANS,
  });

async function askTwice(groupId?: string) {
  const first = await ask(groupId);
  expect(await ask(groupId)).toEqual(first);
  return first;
}

const TOKENS = { input: 4, output: 3, outputLeast: 3, isOutputOpen: false };
const ofPlan = { level: 'account', unit: 'tokens', window: 60_000, amount: 50 };

describe('describe an account', () => {
  it('tells its rate, and the limits of its plan and its own', async () => {
    await scripts.setAccount({ limits: 'c,d,700,w;t,60000,90,b;' });
    await scripts.admit({ plans: PLANS, holdMicros: 30, tokens: TOKENS });
    expect(await askTwice()).toMatchObject({
      ...{ nowMs: NOW_MS, windowMs: WINDOW_MS },
      rate: { limit: 1_000, left: 999, resetMs: WINDOW_MS },
      limits: [
        { level: 'account', unit: 'credits', action: 'warn', usedAmount: 0, heldAmount: 30 },
        { ...ofPlan, usedAmount: 0, heldAmount: 7 },
      ],
    });
  });

  it('tells of a group what all of its keys meet, and of an empty one nothing more', async () => {
    await scripts.setKey({ limits: `${GROUP}||t,60000,100,b;|` });
    const group = redisKeys.group(GROUP);
    await scripts.send('hset', group, 'account', ACCOUNT, 'limits', '||r,3600000,5,b;|t,d,9,b;');
    await scripts.admit({ plans: PLANS, requestId: requestNumber(2), tokens: TOKENS });
    expect((await askTwice(GROUP)).limits).toMatchObject([
      { level: 'group', unit: 'requests', amount: 5, usedAmount: 1, heldAmount: 0 },
      { ...ofPlan, heldAmount: 7 },
    ]);
    await scripts.send('hdel', group, 'limits');
    expect((await askTwice(GROUP)).limits).toMatchObject([ofPlan]);
  });
});
