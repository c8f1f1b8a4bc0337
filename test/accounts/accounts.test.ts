import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketOfAccount } from '../../src/keys/account-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { closeConnections, standalone, tcp } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { openDirectory, type TestDirectory } from './use-directory.ts';

const MISSING = 'acct_000000000000';

let redis: TestRedisServer;
let directory: TestDirectory;

beforeAll(async () => {
  redis = await startRedisServer();
  directory = await openDirectory(standalone(tcp(redis.port)));
});
beforeEach(async () => {
  await redis.cli('flushall');
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

const create = (name = 'Acme') => directory.createAccount({ name, plan: 'pro' });

/** Holds credits as running requests would. */
async function hold(accountId: string, micros: number): Promise<void> {
  const { account } = keysOfBucket(bucketOfAccount(accountId) ?? 0);
  await redis.cli('hset', account(accountId), 'held', String(micros));
}

describe('an account', () => {
  it('begins with an empty balance and is read back as it was created', async () => {
    const created = await create();
    expect(created).toMatchObject({
      name: 'Acme',
      plan: 'pro',
      status: 'active',
      balanceMicros: 0,
      heldMicros: 0,
    });
    expect(await directory.getAccount(created.id)).toEqual(created);
  });

  it('is changed field by field, and the change tells what stood there before', async () => {
    const created = await create();
    const { before, after } = await directory.patchAccount(created.id, { plan: 'team' });
    expect(before).toEqual(created);
    expect(after).toEqual({ ...created, plan: 'team', version: created.version + 1 });
    await directory.patchAccount(created.id, { status: 'suspended' });
    expect(await directory.getAccount(created.id)).toMatchObject({
      name: 'Acme',
      plan: 'team',
      status: 'suspended',
    });
  });

  it('keeps all of the changes that are made at the same time', async () => {
    const { id } = await create();
    await Promise.all([
      directory.patchAccount(id, { name: 'Other' }),
      directory.patchAccount(id, { plan: 'business' }),
      directory.patchAccount(id, { status: 'suspended' }),
    ]);
    expect(await directory.getAccount(id)).toMatchObject({
      name: 'Other',
      plan: 'business',
      status: 'suspended',
      version: 4,
    });
  });

  it('that does not exist is told apart, whatever is asked of it', async () => {
    for (const id of [MISSING, 'nonsense']) {
      for (const ask of [
        () => directory.getAccount(id),
        () => directory.patchAccount(id, { name: 'x' }),
        () => directory.listKeys(id),
        () => directory.createKey(id, {}),
        () => directory.addCredits(id, { micros: 1, id: 'p', note: '' }),
      ]) {
        await expect(ask()).rejects.toMatchObject({ code: 'account_not_found' });
      }
    }
    expect(await redis.cli('keys', 'gw:*')).toBe('');
  });
});

describe('the list of accounts', () => {
  it('has each account once, in one order, whatever the size of its pages', async () => {
    const created = await Promise.all(Array.from({ length: 40 }, () => create()));
    const ids = created.map(({ id }) => id).sort();
    for (const limit of [1, 7, 40, 100]) {
      const listed: string[] = [];
      let after: string | undefined;
      do {
        const page = await directory.listAccounts({ limit, ...(after && { after }) });
        expect(page.accounts.length).toBeLessThanOrEqual(limit);
        listed.push(...page.accounts.map(({ id }) => id));
        after = page.next;
      } while (after !== undefined);
      expect(listed).toEqual(ids);
    }
  });

  it('has both ends of the buckets, and several accounts of one', async () => {
    const ids = [
      ...['acct_000000000001', 'acct_000000000002'],
      ...['acct_46zzzzzzzzzz', 'acct_470000000001'],
    ];
    expect(ids.map(bucketOfAccount)).toEqual([0, 0, 254, 255]);
    for (const id of ids.toReversed()) {
      await directory.ensureAccount(id, { name: 'x', plan: 'team' });
    }
    const { accounts } = await directory.listAccounts({ limit: 10 });
    expect(accounts.map(({ id }) => id)).toEqual(ids);
  });

  it('goes on after an account that is gone, and refuses what is no account', async () => {
    const { id } = await create();
    expect(await directory.listAccounts({ limit: 1, after: MISSING })).toMatchObject({
      accounts: [{ id }],
      next: undefined,
    });
    await expect(directory.listAccounts({ limit: 1, after: 'x' })).rejects.toMatchObject({
      code: 'invalid_cursor',
    });
  });
});

describe('credits', () => {
  it('are entered once for each payment, however often it is sent', async () => {
    const { id } = await create();
    const payment = { micros: 5_000_000, id: 'invoice 1', note: 'paid' };
    const entered = await Promise.all(
      Array.from({ length: 8 }, () => directory.addCredits(id, payment)),
    );
    expect(entered.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
    expect(new Set(entered.map(({ balanceMicros }) => balanceMicros))).toEqual(
      new Set([5_000_000]),
    );
    await directory.addCredits(id, { ...payment, id: 'invoice 2' });
    expect(await directory.getAccount(id)).toMatchObject({ balanceMicros: 10_000_000 });
  });

  it('of a payment that was entered with another amount are refused', async () => {
    const { id } = await create();
    await directory.addCredits(id, { micros: 1, id: 'p', note: '' });
    await expect(directory.addCredits(id, { micros: 2, id: 'p', note: '' })).rejects.toMatchObject({
      code: 'payment_conflict',
    });
    expect(await directory.getAccount(id)).toMatchObject({ balanceMicros: 1 });
  });

  it('of two accounts may have the same payment id', async () => {
    const accounts = [await create(), await create()];
    for (const { id } of accounts) await directory.addCredits(id, { micros: 3, id: 'p', note: '' });
    for (const { id } of accounts) {
      expect(await directory.getAccount(id)).toMatchObject({ balanceMicros: 3 });
    }
  });

  it('that running requests hold cannot be taken', async () => {
    const { id } = await create();
    await directory.addCredits(id, { micros: 10, id: 'paid', note: '' });
    await hold(id, 6);
    const take = { micros: -5, id: 'back', note: '' };
    await expect(directory.addCredits(id, take)).rejects.toMatchObject({ code: 'credit_reserved' });
    await expect(directory.addCredits(id, { ...take, micros: -4 })).resolves.toMatchObject({
      balanceMicros: 6,
    });
  });

  it('stand in the ledger with their kind and note', async () => {
    const { id } = await create();
    await directory.addCredits(id, { micros: 10, id: 'a', note: 'paid' });
    await directory.addCredits(id, { micros: -1, id: 'b', note: 'mistake' });
    const { ledger } = keysOfBucket(bucketOfAccount(id) ?? 0);
    const entries = await redis.cli('xrange', ledger, '-', '+');
    for (const part of ['topup', 'paid', 'adjustment', 'mistake']) {
      expect(entries).toContain(part);
    }
  });
});
