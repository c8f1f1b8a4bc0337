import { readdirSync, readFileSync } from 'node:fs';

/** The kernel's unit for user space: 100 ticks a second on every Linux that Node runs on. */
const NANOS_PER_TICK = 10_000_000;
const BYTES_PER_KB = 1024;
/**
 * Indexes of the fields of `/proc/PID/stat` after the name, which ends with the last parenthesis.
 */
const PARENT_FIELD = 1;
const REAPED_USER_FIELD = 13;
const REAPED_SYSTEM_FIELD = 14;

/** The run time of all threads, to the nanosecond. 0 if the process is gone. */
export function readCpuNanos(pids: readonly number[]): number {
  return sum(pids.map((pid) => sum(readThreads(pid).map((id) => readRunNanos(pid, id)))));
}

export function readResidentBytes(pids: readonly number[]): number {
  return sum(pids.map(readResident));
}

/** The process and all of its descendants. */
export function listProcessTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    const parent = pid > 0 ? Number(readStat(pid)[PARENT_FIELD] ?? -1) : -1;
    if (parent > 0) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const collect = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(collect)];
  return collect(root);
}

/** CPU time of this process and its children, including children that have ended. */
export function readOwnNanos(): number {
  const stat = readStat(process.pid);
  const reapedTicks = Number(stat[REAPED_USER_FIELD]) + Number(stat[REAPED_SYSTEM_FIELD]);
  return readCpuNanos(listProcessTree(process.pid)) + reapedTicks * NANOS_PER_TICK;
}

/** CPU time of all cores, used by any process. Time that the host took away counts as used. */
export function readMachineNanos(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softIrq + steal) * NANOS_PER_TICK;
}

const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);

function readThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function readRunNanos(pid: number, thread: string): number {
  return Number(readOrEmpty(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0] ?? 0);
}

function readResident(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readOrEmpty(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes) * BYTES_PER_KB;
}

function readStat(pid: number): string[] {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** A process can end between two reads of its files. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
