import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bucketOfAccount } from '../../../src/keys/account-id.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Scene } from '../run-row.ts';
import { findReplicas, MASTERS_OF_CLUSTER } from '../support/layouts.ts';
import type { FaultServer } from '../support/redis-server.ts';
import { pick, WHOLE_MAX_MS, waitUntilWhole } from './failover.ts';

const run = promisify(execFile);

const HALF_MOVED_MS = 8_000;
const SLOTS_MOVED = 2_700;
const KEYS_AT_ONCE = '100';
const MIGRATE_TIMEOUT_MS = '5000';

/** First a bucket under load stays half moved for a while, then many slots move one by one. */
export async function reshard(scene: Scene): Promise<void> {
  await moveBucketSlowly(scene);
  const { servers } = scene.site.layout;
  const [from, to] = [pick(servers, 0), pick(servers, 1)];
  const [fromId, toId] = await Promise.all([from, to].map((each) => each.cli('CLUSTER', 'MYID')));
  await run('redis-cli', [
    ...['--cluster', 'reshard', `127.0.0.1:${from.port}`, '--cluster-slots', `${SLOTS_MOVED}`],
    ...['--cluster-from', fromId ?? '', '--cluster-to', toId ?? '', '--cluster-yes'],
  ]);
  await scene.waitForService();
  const replica = pick(await findReplicas(to, servers), 0);
  await replica.cli('CLUSTER', 'FAILOVER');
  const hasTakenOver = async () =>
    (await replica.cli('INFO', 'replication')).includes('role:master');
  await waitUntil(hasTakenOver, 'the replica has taken over', WHOLE_MAX_MS);
  await scene.waitForService();
  await waitUntilWhole(scene);
}

async function moveBucketSlowly(scene: Scene): Promise<void> {
  const { site, world, load } = scene;
  const account = world.accounts[0];
  const bucket = account && bucketOfAccount(account.id);
  if (bucket === undefined) throw new Error('there is no account');
  const { holds } = keysOfBucket(bucket);
  const masters = site.layout.servers.slice(0, MASTERS_OF_CLUSTER);
  const slot = await pick(masters, 0).cli('CLUSTER', 'KEYSLOT', holds);
  const counts = await Promise.all(
    masters.map((master) => master.cli('CLUSTER', 'COUNTKEYSINSLOT', slot)),
  );
  const at = counts.findIndex((count) => count !== '0');
  const [from, to] = [pick(masters, at), pick(masters, (at + 1) % masters.length)];
  const [fromId = '', toId = ''] = await Promise.all(
    [from, to].map((each) => each.cli('CLUSTER', 'MYID')),
  );
  await to.cli('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
  await from.cli('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
  await migrate(from, to, [holds]);
  const sinceMs = performance.now();
  await sleep(HALF_MOVED_MS);
  const served = new Set(
    load.asked.flatMap(({ key, status, sentMs }) =>
      status === 200 && sentMs > sinceMs ? bucketOfAccount(key.account.id) : [],
    ),
  );
  if (served.has(bucket)) scene.violate('a half moved bucket was served');
  scene.note(`${served.size} other buckets were served beside a half moved one`);
  if (served.size === 0) scene.violate('no other bucket was served beside it');
  for (;;) {
    const keys = await from.cli('CLUSTER', 'GETKEYSINSLOT', slot, KEYS_AT_ONCE);
    if (keys === '') break;
    await migrate(from, to, keys.split('\n'));
  }
  await to.cli('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  await from.cli('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  await scene.waitForService();
}

async function migrate(from: FaultServer, to: FaultServer, keys: readonly string[]): Promise<void> {
  const address = [to.host, `${to.port}`, '', '0', MIGRATE_TIMEOUT_MS];
  const reply = await from.cli('MIGRATE', ...address, 'KEYS', ...keys);
  if (reply !== 'OK' && reply !== 'NOKEY') throw new Error(`a slot does not move: ${reply}`);
}
