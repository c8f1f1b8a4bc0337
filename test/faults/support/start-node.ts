import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallAdmin, createAdminApi } from '../../../bench/support/admin-api.ts';
import { endProcess } from '../../../bench/support/processes.ts';
import { isAlive } from '../../support/is-alive.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Machine } from './networks.ts';

export const PROGRAM = 'dist/src/main.js';
const START_MAX_MS = 90_000;

/** A node that a fault ends, and that starts again at the same place. */
export interface FaultNode {
  readonly name: string;
  readonly url: string;
  readonly dataDir: string;
  readonly opsUrl: string;
  /** A command of the program, where it reaches what the node reaches. */
  command(...args: readonly string[]): readonly [program: string, ...args: string[]];
  readonly admin: CallAdmin;
  /** When processes of it were killed. */
  readonly killedMs: number[];
  /** False from the moment on at which the harness ends it: a balancer sends it nothing. */
  isWanted: boolean;
  pid(): number;
  readWorkerPids(): Promise<number[]>;
  isReady(): Promise<boolean>;
  /** With another program, an earlier or a later release takes its place. */
  start(program?: string): Promise<void>;
  /** Lets requests end, as a rolling restart does. */
  stop(): Promise<void>;
  /** Its workers notice, and end by themselves. */
  killPrimary(): Promise<void>;
  /** To all of its processes. */
  signalAll(name: NodeJS.Signals): Promise<void>;
  /** Ends all of its processes at once, as when its machine loses power. */
  kill(): Promise<void>;
}

export interface NodePlace {
  readonly name: string;
  readonly dir: string;
  readonly machine?: Machine;
  readonly env?: Readonly<Record<string, string>>;
  /** What it has beside its places. */
  readonly settings: string;
}

interface ClusterShown {
  readonly workers: readonly { readonly pid: number; readonly state: string }[];
}

export async function makeNode(place: NodePlace): Promise<FaultNode> {
  const { name, dir, machine, env = {}, settings } = place;
  const [port, opsPort] = [await findFreePort(), await findFreePort()];
  const host = machine?.clientHost ?? '127.0.0.1';
  const [configPath, dataDir] = [join(dir, 'tollgate.yaml'), join(dir, 'data')];
  mkdirSync(dataDir, { recursive: true });
  const own = `listen: ${host}:${port}\nops: {listen: "${host}:${opsPort}"}\ndata_dir: ${dataDir}\n`;
  writeFileSync(configPath, own + settings);
  const opsUrl = `http://${host}:${opsPort}`;
  const runInside = ([program, ...args]: readonly [string, ...string[]]): [string, ...string[]] =>
    machine === undefined
      ? [program, ...args]
      : ['ip', 'netns', 'exec', machine.namespace, program, ...args];
  let child: ChildProcess | undefined;
  /** One that is frozen cannot say what its processes are. */
  let frozenPids: readonly number[] | undefined;

  const isReady = () =>
    fetch(`${opsUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const admin: CallAdmin = (method, path, body) => {
    const token = readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();
    return createAdminApi(opsUrl, token)(method, path, body);
  };
  const readWorkerPids = async () => {
    const { workers } = await admin<ClusterShown>('GET', '/cluster');
    return workers.filter(({ state }) => state === 'listening').map(({ pid }) => pid);
  };
  const node: FaultNode = {
    ...{ name, url: `http://${host}:${port}`, opsUrl, dataDir, admin, isReady },
    command: (...args) => runInside([process.execPath, PROGRAM, ...args, '--config', configPath]),
    ...{ isWanted: false, killedMs: [], readWorkerPids, pid: () => child?.pid ?? 0 },
    async start(program = PROGRAM) {
      const start = [process.execPath, program, 'start', '--config', configPath] as const;
      const [command, ...args] = runInside(start);
      const log = openSync(join(dir, 'log'), 'a');
      child = spawn(command, args, {
        stdio: ['ignore', log, log],
        env: { ...process.env, ...env },
      });
      await waitUntil(
        () => {
          if (child?.exitCode !== null) throw new Error(`node ${name} has ended`);
          return isReady();
        },
        `node ${name} is ready`,
        START_MAX_MS,
      );
      node.isWanted = true;
    },
    async stop() {
      node.isWanted = false;
      if (child !== undefined) await endProcess(child);
    },
    async signalAll(name) {
      const pids = frozenPids ?? [node.pid(), ...(await readWorkerPids())];
      frozenPids = name === 'SIGSTOP' ? pids : undefined;
      for (const pid of pids) process.kill(pid, name);
    },
    async killPrimary() {
      node.isWanted = false;
      if (child === undefined) return;
      const workers = await readWorkerPids();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await waitUntil(() => !workers.some(isAlive), `the workers of node ${name} have ended`);
    },
    async kill() {
      node.isWanted = false;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const workers = await readWorkerPids().catch((): number[] => []);
      const ended = once(child, 'exit');
      node.killedMs.push(performance.now());
      for (const pid of [node.pid(), ...workers]) endAtOnce(pid);
      await ended;
      await waitUntil(() => !workers.some(isAlive), `the workers of node ${name} have ended`);
    },
  };
  return node;
}

function endAtOnce(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
