import type { PlanLimits } from '../../../src/protocol/admission.ts';
import type { Random } from '../../proof/support/random.ts';
import type { OpenScripts } from '../scripts/open-scripts.ts';
import { redisKeys } from '../scripts/open-scripts.ts';
import { encodeList, type ModelLimit, type ModelSubject } from './list-model.ts';

const UNITS = ['r', 't', 'i', 'o', 'c'] as const;
const WINDOWS = [10_000, 60_000, 5 * 3_600_000, 'd', 'w', 'm'] as const;
const PLENTY = 1e15;

export interface TreeKey {
  readonly keyId: string;
  readonly subjectsOf: (user: string) => readonly ModelSubject[];
}

/** An account with random limits at every level: its plan, itself, a group, two keys, end users. */
export interface ListTree {
  readonly accountId: string;
  readonly plans: PlanLimits;
  readonly keys: readonly TreeKey[];
  /** Every subject that any request of the account counts for. */
  readonly subjects: readonly ModelSubject[];
  readonly balanceAtStart: number;
  /** Gives some limits other amounts, as an operator does. */
  change(random: Random): Promise<void>;
}

function randomLimits(random: Random): ModelLimit[] {
  const limits = new Map<string, ModelLimit>();
  for (let i = random.int(0, 4); i > 0; i--) {
    const [unit, window] = [random.pick(UNITS), random.pick(WINDOWS)];
    const amount = randomAmount(unit, random);
    const limit = { unit, window, blocks: random.chance(0.8), amount, amountMax: amount };
    limits.set(`${unit}${window}`, limit);
  }
  return [...limits.values()];
}

function randomAmount(unit: string, random: Random): number {
  const most = random.pick([2_000, 30_000, 100_000]);
  return unit === 'r' ? random.int(1, 80) : random.int(50, most);
}

/** Of two limits that block, or only warn, with one unit and one window the lower one holds. */
function merge(own: readonly ModelLimit[], plan: readonly ModelLimit[]): ModelLimit[] {
  const merged = new Map<string, ModelLimit>();
  for (const limit of [...own, ...plan]) {
    const code = `${limit.unit} ${limit.window} ${limit.blocks}`;
    const known = merged.get(code);
    if (known === undefined) merged.set(code, { ...limit });
    else known.amount = Math.min(known.amount, limit.amount);
  }
  for (const limit of merged.values()) limit.amountMax = limit.amount;
  return [...merged.values()];
}

export async function plantTree(
  scripts: OpenScripts,
  name: string,
  random: Random,
): Promise<ListTree> {
  const lists = {
    ...{ first: randomLimits(random), second: randomLimits(random) },
    ...{ user: randomLimits(random), group: randomLimits(random) },
    ...{ account: randomLimits(random), plan: randomLimits(random) },
  };
  const isTemplateOfKey = random.chance(0.5);
  const isSecondInGroup = random.chance(0.5);
  const accountId = `acct_03${name}`;
  const groupId = `grp_03${name}`;
  const keyIds = [`03${name}first`, `03${name}second`] as const;
  const merged = merge(lists.account, lists.plan);
  const plans: PlanLimits = {
    team: { requests: 1_000_000_000, list: encodeList(lists.plan) },
  };

  const set = (redisKey: string, ...fields: string[]) => scripts.send('hset', redisKey, ...fields);
  const write = async () => {
    const template = encodeList(lists.user);
    const [ofKey, ofGroup] = isTemplateOfKey ? [template, ''] : ['', template];
    const [first, second] = [encodeList(lists.first), encodeList(lists.second)];
    const secondGroup = isSecondInGroup ? groupId : '';
    await set(redisKeys.account(accountId), 'limits', encodeList(lists.account));
    await set(redisKeys.group(groupId), 'limits', `||${encodeList(lists.group)}|${ofGroup}`);
    await set(redisKeys.key(keyIds[0]), 'limits', `${groupId}||${first}|${ofKey}`);
    await set(redisKeys.key(keyIds[1]), 'limits', `${secondGroup}||${second}|`);
  };
  await set(redisKeys.account(accountId), 'status', 'active', 'plan', 'team');
  await set(redisKeys.account(accountId), 'balance', String(PLENTY));
  for (const keyId of keyIds) {
    await set(redisKeys.key(keyId), 'status', 'active', 'account', accountId, 'digest', 'digest');
  }
  await write();

  const account: ModelSubject = { level: 'account', id: accountId, limits: merged };
  const group: ModelSubject = { level: 'group', id: groupId, limits: lists.group };
  const ofKeys: readonly ModelSubject[] = [
    { level: 'key', id: keyIds[0], limits: lists.first },
    { level: 'key', id: keyIds[1], limits: lists.second },
  ];
  const users = new Map(
    ['u1', 'u2'].map((user): [string, ModelSubject] => [
      user,
      { level: 'user', id: `${name} ${user}`, limits: lists.user },
    ]),
  );
  const keys = keyIds.map((keyId, index) => {
    const isInGroup = index === 0 || isSecondInGroup;
    const countsUsers = index === 0 || (isSecondInGroup && !isTemplateOfKey);
    return {
      keyId,
      subjectsOf: (user: string) =>
        [
          ofKeys[index],
          countsUsers ? users.get(user) : undefined,
          isInGroup ? group : undefined,
          account,
        ].filter((subject) => subject !== undefined),
    };
  });

  return {
    ...{ accountId, plans, keys, balanceAtStart: PLENTY },
    subjects: [...ofKeys, ...users.values(), group, account],
    async change(random) {
      for (const limit of [lists.first, lists.second, lists.user, lists.group].flat()) {
        if (!random.chance(0.3)) continue;
        limit.amount = randomAmount(limit.unit, random);
        limit.amountMax = Math.max(limit.amountMax, limit.amount);
      }
      await write();
    },
  };
}
