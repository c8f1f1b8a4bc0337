import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { find } from '../../../../src/quota/scripts/kept/find.ts';
import { forget } from '../../../../src/quota/scripts/kept/forget.ts';
import { type AnswerTexts, keep } from '../../../../src/quota/scripts/kept/keep.ts';
import { recall } from '../../../../src/quota/scripts/kept/recall.ts';
import { ACCOUNT, BUCKET, DIGEST, KEY, openScripts, redisKeys } from '../open-scripts.ts';

const OTHER = { key: '03otherkey1', account: 'acct_03account002' };
const scripts = openScripts('kept/keep');
const { connection, send } = scripts;
const TTL_MS = 3_600_000;
const BOUNDS = {
  ...{ ttlMs: TTL_MS, answerBytesMax: 6_000 },
  ...{ accountBytesMax: 20_000, bucketBytesMax: 24_000 },
};
let nowMs = 0;

beforeEach(async () => {
  // Redis itself lets keys expire by its own clock.
  nowMs = Date.now();
  await scripts.setClock(nowMs);
  await send('hset', redisKeys.account(OTHER.account), 'status', 'active');
  await send('hset', redisKeys.key(OTHER.key), 'account', OTHER.account, 'status', 'active');
});

const pass = (ms: number) => {
  nowMs += ms;
  return scripts.setClock(nowMs);
};
const textsOf = (id: string, asked: number, told: number, previousId = ''): AnswerTexts => ({
  ...{ id, previousId, output: 'o'.repeat(told) },
  ...(asked === 0
    ? { input: '', response: '' }
    : { input: Buffer.alloc(asked, 'i'), response: '{}' }),
});
const keepFor = (keyId: string, texts: AnswerTexts) =>
  keep(connection, { bucket: BUCKET, keyId }, texts, BOUNDS);
const recallFor = (previousId: string, responseIds: readonly string[] = []) =>
  recall(connection, { bucket: BUCKET, keyId: KEY, digest: DIGEST }, { previousId, responseIds });

async function readAccount(accountId: string) {
  const fields = await scripts.hash(redisKeys.kept(accountId));
  const [queue, rests] = (await Promise.all(
    [redisKeys.keptQueue(accountId), redisKeys.keptRests(accountId)].map((name) =>
      send('lrange', name, 0, -1),
    ),
  )) as [string[], string[]];
  const heads = new Map(
    Object.entries(fields).flatMap(([name, value]) => {
      const [, rest, output] = value.split('|').map(Number);
      return name.startsWith('p')
        ? [[name.slice(1), { rest: rest ?? 0, output: output ?? 0 }]]
        : [];
    }),
  );
  return { fields, queue, rests, heads };
}

/** The ids of each account that were kept and not taken away, oldest first. */
type Made = Record<string, string[]>;

/** What has to be true at any time. */
async function checkAll(made: Made) {
  const counted = await scripts.hash(redisKeys.keptBytes);
  let total = 0;
  for (const [accountId, ids] of Object.entries(made)) {
    const { fields, queue, rests, heads } = await readAccount(accountId);
    expect(ids.slice(ids.length - queue.length)).toEqual(queue);
    expect([...heads.keys()].sort()).toEqual([...queue].sort());
    expect(queue.filter((id) => (heads.get(id)?.rest ?? 0) > 0)).toEqual(rests);
    const names = queue.flatMap((id) =>
      rests.includes(id) ? [`p${id}`, `o${id}`, `i${id}`, `r${id}`] : [`p${id}`, `o${id}`],
    );
    expect(Object.keys(fields).sort()).toEqual(names.sort());
    const bytes = [...heads.values()].reduce((sum, { rest, output }) => sum + rest + output, 0);
    expect(Number(counted[accountId] ?? 0)).toBe(bytes);
    expect(bytes).toBeLessThanOrEqual(BOUNDS.accountBytesMax);
    total += bytes;
  }
  expect(Number((await send('get', redisKeys.keptTotal)) ?? 0)).toBe(total);
  expect(total).toBeLessThanOrEqual(BOUNDS.bucketBytesMax);
}

const size = fc.oneof(fc.nat(3_000), fc.nat(9_000), fc.constant(0));
const step = fc.record({
  isOther: fc.boolean(),
  asked: size,
  told: size,
  forgets: fc.option(fc.nat(9), { freq: 3 }),
  passedMs: fc.oneof(fc.constant(0), fc.nat(TTL_MS / 4), fc.constant(TTL_MS + 1)),
});

interface Step {
  readonly isOther: boolean;
  readonly asked: number;
  readonly told: number;
}

const accountOf = ({ isOther }: Pick<Step, 'isOther'>) => (isOther ? OTHER.account : ACCOUNT);
let count = 0;

async function keepOne(made: Made, { isOther, asked, told }: Step) {
  const id = `resp_${count++}`;
  const texts = textsOf(id, asked, told);
  const keyId = isOther ? OTHER.key : KEY;
  const { outcome } = await keepFor(keyId, texts);
  if (outcome === 'kept') {
    made[accountOf({ isOther })]?.push(id);
    expect(await keepFor(keyId, texts)).toMatchObject({ outcome });
    return;
  }
  const isLarge = told + 6 * id.length + 384 > BOUNDS.answerBytesMax;
  expect(outcome).toBe(isLarge ? 'too_large' : 'full');
}

async function forgetOne(made: Made, accountId: string, fromEnd: number) {
  const ids = made[accountId] ?? [];
  const id = ids.at(-1 - fromEnd);
  if (id === undefined) return;
  const isKept = (await readAccount(accountId)).heads.has(id);
  const owner = { bucket: BUCKET, accountId };
  expect(await forget(connection, owner, id)).toBe(isKept);
  expect(await forget(connection, owner, id)).toBe(false);
  made[accountId] = ids.filter((other) => other !== id);
}

describe('kept answers', () => {
  it('are counted exactly, stay within every bound, and go oldest first', async () => {
    const made: Made = { [ACCOUNT]: [], [OTHER.account]: [] };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        for (const one of steps) {
          await pass(one.passedMs);
          if (one.forgets !== null) await forgetOne(made, accountOf(one), one.forgets);
          await keepOne(made, one);
          await checkAll(made);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('are not kept for a key that is gone', async () => {
    expect(await keepFor('03nokey0001', textsOf('resp_1', 1, 1))).toEqual({
      ...{ outcome: 'unknown', bucketBytes: 0 },
    });
  });

  it('of others in the bucket leave, when they are over, the room that they had', async () => {
    for (let i = 0; i < 40; i++) await keepFor(OTHER.key, textsOf(`resp_o${i}`, 0, 900));
    expect(await keepFor(KEY, textsOf('resp_k', 0, 5_000))).toMatchObject({ outcome: 'full' });
    await pass(TTL_MS + 1);
    expect(await keepFor(KEY, textsOf('resp_k', 0, 5_000))).toMatchObject({ outcome: 'kept' });
    expect(await keepFor(KEY, textsOf('resp_last', 0, 100))).toMatchObject({ outcome: 'kept' });
    expect(await scripts.hash(redisKeys.keptBytes)).toEqual({ [ACCOUNT]: expect.any(String) });
    expect(await send('exists', redisKeys.kept(OTHER.account))).toBe(0);
  });

  it('are recalled with all before them, unless what was asked is gone from one', async () => {
    await keepFor(KEY, textsOf('resp_1', 10, 20));
    await keepFor(KEY, textsOf('resp_2', 11, 21, 'resp_1'));
    expect(await recallFor('resp_2', ['resp_1', 'resp_9'])).toEqual({
      kind: 'known',
      steps: [
        { output: 'o'.repeat(21), input: 'i'.repeat(11) },
        { output: 'o'.repeat(20), input: 'i'.repeat(10) },
      ],
      outputs: ['o'.repeat(20), ''],
    });
    await keepFor(KEY, textsOf('resp_3', 0, 22, 'resp_2'));
    await keepFor(KEY, textsOf('resp_4', 13, 23, 'resp_3'));
    expect(await recallFor('resp_4', ['resp_3'])).toEqual({
      ...{ kind: 'known', steps: undefined, outputs: ['o'.repeat(22)] },
    });
    const owner = { bucket: BUCKET, accountId: ACCOUNT };
    expect(await find(connection, owner, 'resp_3')).toBeUndefined();
    expect(await find(connection, owner, 'resp_2')).toMatchObject({ input: 'i'.repeat(11) });
    await pass(TTL_MS);
    expect(await recallFor('resp_2', ['resp_1'])).toMatchObject({
      steps: undefined,
      outputs: [''],
    });
  });

  it('make no conversation that is longer than Redis can read at once', async () => {
    const bounds = { ...BOUNDS, accountBytesMax: 2 ** 22, bucketBytesMax: 2 ** 22 };
    for (let i = 0; i <= 1_000; i++) {
      const texts = textsOf(`resp_${i}`, 1, 1, i === 0 ? '' : `resp_${i - 1}`);
      await keep(connection, { bucket: BUCKET, keyId: KEY }, texts, bounds);
    }
    const [whole, longer] = [await recallFor('resp_999'), await recallFor('resp_1000')];
    expect(whole).toMatchObject({ kind: 'known', steps: { length: 1_000 } });
    expect(longer).toMatchObject({ kind: 'known', steps: undefined });
  });
});
