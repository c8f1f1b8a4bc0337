import type { Config } from '../../config/config.ts';
import { findLockHolder } from '../../data-dir/lock-data-dir.ts';
import { DEFAULT_HTTP_LIMITS } from '../../http/http-limits.ts';
import { shareConcurrency } from '../../routing/share-concurrency.ts';
import { type Finding, passCheck, skipCheck } from '../finding.ts';
import type { Check } from '../run-check.ts';
import { checkClientAddresses } from './check-client-addresses.ts';
import { checkDataFolder } from './check-data-folder.ts';
import { checkEndpoint } from './check-endpoint.ts';
import {
  judgeAcceptQueue,
  judgeAdminToken,
  judgeOpenFiles,
  judgeWorkerCount,
  judgeWorkerMemory,
} from './judge-machine.ts';
import {
  countCpus,
  readAcceptQueueMax,
  readMemoryBytes,
  readOpenFilesLimit,
} from './read-system.ts';

const UNKNOWN = skipCheck('this system does not say');

export function createMachineChecks(config: Config): Check[] {
  const { dataDir, listen, ops, workers } = config;
  return [
    { name: 'running-node', run: () => checkRunningNode(dataDir) },
    { name: 'data-folder', run: () => checkDataFolder(dataDir) },
    { name: 'listen-port', run: () => checkEndpoint(listen, '/healthz') },
    { name: 'ops-port', run: () => checkEndpoint(ops.listen, '/livez') },
    { name: 'client-addresses', run: () => checkClientAddresses(config) },
    { name: 'admin-token', run: () => judgeAdminToken(ops.adminToken?.reveal()) },
    {
      name: 'accept-queue',
      run: () => {
        const somaxconn = readAcceptQueueMax();
        return somaxconn === undefined ? UNKNOWN : judgeAcceptQueue(somaxconn);
      },
    },
    { name: 'open-files', run: () => checkOpenFiles(config) },
    { name: 'worker-count', run: () => judgeWorkerCount(workers, countCpus()) },
    {
      name: 'worker-memory',
      run: () =>
        judgeWorkerMemory({
          memoryBytes: readMemoryBytes(),
          workers,
          bodiesBytesMax: DEFAULT_HTTP_LIMITS.bodiesHeldBytesMax,
        }),
    },
  ];
}

async function checkRunningNode(dataDir: string): Promise<Finding> {
  const pid = await findLockHolder(dataDir);
  return pid === undefined
    ? skipCheck(`none uses ${dataDir}`)
    : passCheck(`process ${pid} uses ${dataDir}`);
}

async function checkOpenFiles({ dataDir, upstreams, workers }: Config): Promise<Finding> {
  const pid = await findLockHolder(dataDir);
  const limit = readOpenFilesLimit(pid);
  if (limit === undefined) return UNKNOWN;
  const socketsMax = upstreams.reduce(
    (sum, { kind, concurrencyMax }) =>
      sum + shareConcurrency(concurrencyMax, 1, workers) * (kind === 'simulated' ? 1 : 2),
    0,
  );
  const whose = pid === undefined ? 'started from here' : `of the running node (${pid})`;
  return judgeOpenFiles({ limit, whose, socketsMax });
}
