import { resolve } from 'node:path';
import { BEFORE_LISTS, unpackRelease } from '../support/releases/unpack-release.ts';
import * as beside from './acts/beside.ts';
import { passMonthEnd, secondsToMonthEnd, stepClock, stepClockOfNode } from './acts/clocks.ts';
import * as failover from './acts/failover.ts';
import * as nodes from './acts/nodes.ts';
import * as server from './acts/one-server.ts';
import { reshard } from './acts/resharding.ts';
import type { FaultRow } from './run-row.ts';
import { SMALL_DISK_MB } from './support/small-disk.ts';
import type { SiteOptions } from './support/start-site.ts';

type RowSite = Omit<SiteOptions, 'booksUrl'>;

const ALONE: RowSite = { layout: 'standalone' };
const SENTINEL: RowSite = { layout: 'sentinel' };
const CLUSTER: RowSite = { layout: 'cluster' };
const WITHOUT_MIN_REPLICAS: RowSite = {
  ...SENTINEL,
  hasNetworks: true,
  redis: { args: ['--min-replicas-to-write', '0'] },
};
/** Time enough to start the nodes, and to see some load before. */
const BEFORE_MONTH_END_SECONDS = 60;

/** The matrix: what is broken, in which layout of Redis, while two nodes serve. */
export const FAULT_ROWS: readonly FaultRow[] = [
  row(1, 'Redis killed and restarted', ALONE, server.killAndRestart),
  row(2, 'Redis frozen for 1, 5 and 15 s', ALONE, server.freeze),
  row(3, 'master killed', SENTINEL, failover.killMaster),
  {
    ...row(
      4,
      'master and a node cut off for 8 s, without min-replicas',
      WITHOUT_MIN_REPLICAS,
      failover.isolateMaster,
    ),
    // Both sides admit: this is why deploy/redis sets min-replicas, with which the side that is cut
    // off admits for four seconds only.
    areRatesExact: false,
  },
  {
    ...row(
      5,
      'master and a node cut off for 8 s',
      { ...SENTINEL, hasNetworks: true },
      failover.isolateMaster,
    ),
    areRatesExact: false,
  },
  row(6, 'master frozen for 8 s, and back', SENTINEL, failover.freezeMaster),
  row(7, 'two of three Sentinels killed', SENTINEL, failover.killSentinels),
  row(8, 'one master killed, another frozen', CLUSTER, failover.killAndFreezeMasters),
  row(9, 'a bucket half moved for 8 s, 2,700 slots moved, failover by hand', CLUSTER, reshard),
  row(10, 'a master and its replica killed', CLUSTER, failover.killShard),
  row(11, 'Redis with 200 MB killed and restarted', ALONE, server.restartWithMuch),
  row(
    12,
    'replies of Redis lost, late and slow',
    { ...ALONE, redis: { hasProxy: true } },
    server.spoilReplies,
  ),
  row(13, 'a worker, a primary and a whole node killed', ALONE, nodes.killProcesses),
  row(14, 'memory of Redis full', ALONE, server.fillMemory),
  row(15, 'disk of Redis full', { ...ALONE, diskMb: SMALL_DISK_MB }, server.fillDisk),
  {
    ...row(
      16,
      'clock of Redis steps by 5 s, 60 s and 10 min',
      { ...ALONE, readAheadSeconds: () => 0 },
      stepClock,
    ),
    areRatesExact: false,
  },
  row(
    17,
    'the month ends',
    { ...ALONE, readAheadSeconds: () => secondsToMonthEnd() - BEFORE_MONTH_END_SECONDS },
    passMonthEnd,
  ),
  row(18, 'scripts flushed, connections killed', ALONE, server.forgetConnections),
  row(19, 'news of revocations lost', ALONE, nodes.loseRevocations),
  row(20, 'master killed right after revocations', SENTINEL, failover.revokeAndKill),
  row(21, 'the nodes that write the books killed 25 times', ALONE, nodes.killWriters),
  row(22, 'Redis restarted under 16 workers', { ...ALONE, workers: 8 }, server.restartForMany),
  {
    ...row(23, 'the release before replaced by this one', ALONE, nodes.renew),
    startsWith: () => resolve(unpackRelease(BEFORE_LISTS), 'src/main.js'),
  },
  row(24, 'database of the books killed three times, then frozen', ALONE, beside.takeBooksAway),
  row(
    25,
    'disks of the nodes full while Redis is frozen',
    { ...ALONE, nodeDiskMb: SMALL_DISK_MB },
    beside.fillDisksOfNodes,
  ),
  row(26, 'a node frozen for 70 s, and back', ALONE, beside.freezeNode),
  row(
    27,
    'clock of a node steps by 1 min, 10 min and 3 h',
    { ...ALONE, hasNodeClock: true },
    stepClockOfNode,
  ),
  {
    ...row(
      28,
      'a third of the servers and a node cut off for 8 s',
      { ...CLUSTER, hasNetworks: true },
      failover.isolateMaster,
    ),
    areRatesExact: false,
  },
  row(29, 'a standby of the books takes over without the last 6 s', ALONE, beside.failBooksOver),
];

function row(number: number, fault: string, site: RowSite, act: FaultRow['act']): FaultRow {
  return { number, fault, site, act };
}
