import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/**
 * The contestant has the first CPU to itself. Load, upstream, Redis and the bench share the second.
 */
const CORES = { contestant: '0', rest: '1' } as const;
const KILL_AFTER_MS = 10_000;
const OUTPUT_CHARS_MAX = 4_000;

export type Seat = keyof typeof CORES;

export interface PinnedProcess {
  readonly pid: number;
  /** The end of the process's output. */
  output(): string;
  hasEnded(): boolean;
  stop(): Promise<void>;
}

export interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const running = new Set<ChildProcess>();

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Read before anything is pinned: after that the system reports one CPU. */
export const CAN_PIN = availableParallelism() >= Object.keys(CORES).length;

/** Pins the bench itself and everything it starts without a seat of its own. */
export function pinBench(): void {
  movePinned('rest', process.pid);
}

/** Moves a process with all of its threads, and not its children. */
export function movePinned(seat: Seat, pid: number): void {
  if (CAN_PIN) execFileSync('taskset', ['-a', '-p', '-c', CORES[seat], String(pid)]);
}

export function pinCommand(seat: Seat, command: readonly string[]): [string, string[]] {
  const [program = '', ...args] = CAN_PIN ? ['taskset', '-c', CORES[seat], ...command] : command;
  return [program, args];
}

export async function spawnPinned(
  seat: Seat,
  command: readonly string[],
  options: SpawnOptions = {},
): Promise<PinnedProcess> {
  const child = spawn(...pinCommand(seat, command), {
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    env: { PATH: `${process.env['PATH']}:/usr/sbin`, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output = (output + String(data)).slice(-OUTPUT_CHARS_MAX);
    });
  }
  running.add(child);
  child.once('exit', () => running.delete(child));
  await once(child, 'spawn');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    output: () => output,
    hasEnded,
    async stop() {
      if (hasEnded()) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const killTimer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
      await exited;
      clearTimeout(killTimer);
    },
  };
}
