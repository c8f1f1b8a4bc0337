import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { credit } from '../../src/quota/scripts/credit.ts';
import { describeAccount } from '../../src/quota/scripts/describing/describe-account.ts';
import { identify } from '../../src/quota/scripts/identify.ts';
import { renew } from '../../src/quota/scripts/renew.ts';
import { repairHeld } from '../../src/quota/scripts/repair-held.ts';
import { settle } from '../../src/quota/scripts/settle.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import { classifyRedisError } from '../../src/redis/classify-redis-error.ts';
import { admitAlone } from '../support/limits/admit-alone.ts';
import { DEFAULT_WARNINGS } from '../support/limits/default-warnings.ts';
import {
  closeConnections,
  NO_AUTH,
  openConnection,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startClusterMasters } from '../support/servers/start-cluster-masters.ts';
import { stopRedisServers, type TestRedisServer } from '../support/servers/start-redis-server.ts';
import {
  ACCOUNT,
  BUCKET,
  DIGEST,
  KEY,
  makeOrder,
  makeSettlement,
  requestNumber,
} from './scripts/open-scripts.ts';

const redisKeys = keysOfBucket(BUCKET);
const [ADMITTED, REFUSED] = [requestNumber(1), requestNumber(2)];

let from: TestRedisServer;
let to: TestRedisServer;
let connection: TestConnection;
let slot: string;

beforeAll(async () => {
  const masters = await startClusterMasters();
  slot = (await masters[0]?.cli('cluster', 'keyslot', redisKeys.holds)) ?? '';
  const owners = await Promise.all(
    masters.map(async (master) => (await master.cli('get', redisKeys.whole)) === ''),
  );
  const owner = masters[owners.indexOf(true)];
  const other = masters[owners.indexOf(false)];
  if (owner === undefined || other === undefined) throw new Error('no master has the bucket');
  [from, to] = [owner, other];
  const nodes = masters.map(({ port }) => tcp(port));
  connection = openConnection({ topology: 'cluster', nodes, tls: false, auth: NO_AUTH });
  await waitForRedis(connection);
});

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

const settlement = makeSettlement({ requestId: ADMITTED, actualMicros: 70 });

/** Everything that runs on a bucket, by what it does. */
const RUNS: Readonly<Record<string, () => Promise<unknown>>> = {
  admit: () => admitAlone(connection, makeOrder({ requestId: REFUSED })),
  renew: () =>
    renew(
      connection,
      { ...settlement, heldMicros: 100, lastKnownMs: Date.now() },
      { seenMicros: 10, leaseMs: 60_000 },
      DEFAULT_WARNINGS,
    ),
  settle: () => settle(connection, { ...settlement, lastKnownMs: Date.now() }, DEFAULT_WARNINGS),
  sweep: () => sweep(connection, BUCKET, 100, DEFAULT_WARNINGS),
  credit: () =>
    credit(
      connection,
      {
        ...{ bucket: BUCKET, accountId: ACCOUNT, paymentId: 'payment', micros: 500 },
        ...{ kind: 'topup', isForced: false, note: '' },
      },
      DEFAULT_WARNINGS,
    ),
  repair: () => repairHeld(connection, BUCKET, ACCOUNT),
  identify: () => identify(connection, { bucket: BUCKET, keyId: KEY, digest: DIGEST }),
  describe: () =>
    describeAccount(connection, {
      ...{ bucket: BUCKET, accountId: ACCOUNT, groupId: '', windowMs: 60_000, plans: { team: 9 } },
    }),
};

async function startMove(): Promise<void> {
  const [fromId, toId] = await Promise.all([from, to].map((each) => each.cli('cluster', 'myid')));
  await to.cli('cluster', 'setslot', slot, 'importing', fromId ?? '');
  await from.cli('cluster', 'setslot', slot, 'migrating', toId ?? '');
}

async function endMove(): Promise<void> {
  const toId = await to.cli('cluster', 'myid');
  await to.cli('cluster', 'setslot', slot, 'node', toId);
  await from.cli('cluster', 'setslot', slot, 'node', toId);
}

const listKeys = async (server: TestRedisServer) => {
  const keys = await server.cli('cluster', 'getkeysinslot', slot, '100');
  return keys.split('\n').filter((key) => key !== '');
};

describe('a bucket whose slot moves to another server', () => {
  it('is changed by nothing while a part of it is missing, and then goes on as it was', async () => {
    const now = Date.now();
    const send = (command: string, ...args: string[]) => connection.send(command, args);
    const account = redisKeys.account(ACCOUNT);
    await send('hset', account, ...['status', 'active', 'plan', 'team', 'balance', '1000']);
    await send('hset', redisKeys.key(KEY), ...['status', 'active', 'account', ACCOUNT]);
    await send('hset', redisKeys.key(KEY), ...['digest', DIGEST, 'version', '1']);
    const admitted = await admitAlone(connection, makeOrder({ requestId: ADMITTED }));
    expect(admitted).toMatchObject({ kind: 'admitted', heldMicros: 100 });
    if (admitted.kind !== 'admitted') return;

    const keys = await listKeys(from);
    expect(keys).toEqual(expect.arrayContaining([account, redisKeys.holds, redisKeys.leases]));
    const before = new Map<string, string>();
    for (const key of keys) before.set(key, await from.cli('dump', key));
    await startMove();
    // The holds lead a run to its server, so they are tried first and last.
    const order = [redisKeys.holds, ...keys.filter((key) => key !== redisKeys.holds)];
    for (const moved of ['', ...order]) {
      if (moved !== '') {
        await from.cli('migrate', '127.0.0.1', `${to.port}`, moved, '0', '5000');
      }
      const kinds = await Promise.all(
        Object.entries(RUNS).map(async ([name, run]) => [
          name,
          await run().then(() => 'ran', classifyRedisError),
        ]),
      );
      expect(kinds.filter(([, kind]) => kind === 'ran' || kind === 'fault')).toEqual([]);
      expect([...(await listKeys(from)), ...(await listKeys(to))].sort()).toEqual([...keys].sort());
    }
    await endMove();
    for (const key of keys) expect(await to.cli('dump', key)).toBe(before.get(key));

    const month = admitted.month;
    const last = { ...settlement, month, extras: admitted.extras, lastKnownMs: now };
    expect(await settle(connection, last, DEFAULT_WARNINGS)).toMatchObject({
      kind: 'charge',
      balanceMicros: 930,
    });
    expect(await send('hmget', account, 'balance', 'held')).toEqual(['930', '0']);
    expect(await send('xlen', redisKeys.ledger)).toBe(1);
  });
});
