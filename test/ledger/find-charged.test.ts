import { describe, expect, it } from 'vitest';
import { createFindCharged } from '../../src/ledger/create-find-charged.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import { makeTempFolder } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { begin, createAccount, serve } from './ledger-scene.ts';
import { useLedgerServer } from './use-ledger-server.ts';

const BUCKET = 3;
const store = useLedgerServer([BUCKET]);
const openFind = (dir: string, nowMs = Date.now) =>
  createFindCharged({ connection: store.connection, dirs: [dir] }, { nowMs });

describe('what a request was charged already', () => {
  it.each([
    ['Redis', async () => {}],
    ['segments', (dir: string) => store.exportAll(dir)],
  ])('is found in %s, by the request and its bucket', async (_, arrange) => {
    const dir = makeTempFolder();
    const account = await createAccount(store.connection, BUCKET);
    const expired = await begin(store.connection, account, { leaseMs: 1 });
    await waitUntil(
      async () => (await sweep(store.connection, BUCKET, 10)).swept === 1,
      'the lease has run out',
    );
    const served = await serve(store.connection, account, 700);
    const running = await begin(store.connection, account);
    await arrange(dir);
    const find = openFind(dir);
    const found = [expired.requestId, served, running.requestId, 'no id'].map((requestId) =>
      find({ requestId, bucket: BUCKET }),
    );
    expect(await Promise.all(found)).toEqual([0, 700, undefined, undefined]);
  });

  it('is looked for no longer than a minute in all', async () => {
    const account = await createAccount(store.connection, BUCKET);
    const requestId = await serve(store.connection, account, 700);
    let nowMs = 0;
    const find = openFind(makeTempFolder(), () => {
      nowMs += 31_000;
      return nowMs;
    });
    const answers = [1, 2, 3].map(() => find({ requestId, bucket: BUCKET }));
    expect(await Promise.all(answers)).toEqual([700, 700, undefined]);
  });
});
