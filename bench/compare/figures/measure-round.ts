import type { Meter, Outcome, Running } from '../scenario.ts';
import { readCpuNanos, readMachineNanos, readOwnNanos, readResidentBytes } from './cpu-times.ts';
import type { Round } from './round.ts';

/** A round says little if other processes use more of a core than this. */
const FOREIGN_CORES_MAX = 0.15;
const NANOS_PER_MICRO = 1_000;
const NANOS_PER_SECOND = 1e9;
const BYTES_PER_MB = 1024 ** 2;

type Pids = Readonly<Record<string, readonly number[]>>;

/** The contestant's own processes are listed under the empty name. */
const OWN = '';

interface Snapshot {
  readonly atNanos: number;
  readonly cpuNanos: ReadonlyMap<string, number>;
  readonly machineNanos: number;
  readonly ownNanos: number;
}

function takeSnapshot(groups: Pids): Snapshot {
  return {
    atNanos: Number(process.hrtime.bigint()),
    cpuNanos: new Map(Object.entries(groups).map(([name, pids]) => [name, readCpuNanos(pids)])),
    machineNanos: readMachineNanos(),
    ownNanos: readOwnNanos(),
  };
}

export interface Subject {
  readonly running: Running;
  readonly upstreamPid: number;
  /** The contestant's memory before the first load. */
  readonly idleBytes: number;
}

/** Measures the CPU time of all processes while a generator runs. */
export async function measureRound(
  { running, upstreamPid, idleBytes }: Subject,
  drive: (meter: Meter) => Promise<Outcome>,
): Promise<Round> {
  const pids = running.pids();
  const groups: Pids = { [OWN]: pids, ...running.sidePids, upstream: [upstreamPid] };
  let before = takeSnapshot(groups);
  let after = before;
  let residentBytes = 0;
  const outcome = await drive({
    begin() {
      before = takeSnapshot(groups);
    },
    end() {
      after = takeSnapshot(groups);
      residentBytes = readResidentBytes(pids);
    },
  });
  return describeRound(before, after, outcome, { idleBytes, residentBytes });
}

function describeRound(
  before: Snapshot,
  after: Snapshot,
  outcome: Outcome,
  { idleBytes, residentBytes }: { readonly idleBytes: number; readonly residentBytes: number },
): Round {
  const { units, seconds, details } = outcome;
  const nanos = after.atNanos - before.atNanos;
  const used = (name: string) => (after.cpuNanos.get(name) ?? 0) - (before.cpuNanos.get(name) ?? 0);
  const microsEach = (name: string) => used(name) / NANOS_PER_MICRO / Math.max(units, 1);
  const sides = [...after.cpuNanos.keys()].filter((name) => name !== OWN);
  const machineNanos = after.machineNanos - before.machineNanos;
  const byOthers = machineNanos - (after.ownNanos - before.ownNanos);
  const foreignCores = Math.max(byOthers / nanos, 0);
  const { openStreams = 0 } = details;
  return {
    ...outcome,
    unitsPerSecond: units / seconds,
    cpuMicros: microsEach(OWN),
    sideMicros: Object.fromEntries(sides.map((name) => [name, microsEach(name)])),
    busyShare: used(OWN) / (seconds * NANOS_PER_SECOND),
    residentMb: residentBytes / BYTES_PER_MB,
    details: {
      ...details,
      otherCoresPercent: ((machineNanos - used(OWN)) / nanos) * 100,
      ...(openStreams > 0 && { kbPerStream: (residentBytes - idleBytes) / 1024 / openStreams }),
    },
    foreignCores,
    isNoisy: foreignCores > FOREIGN_CORES_MAX || units === 0,
  };
}
