import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProofEvent, readEvents } from '../../test/proof/support/event-log.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import type { FleetCommand, FleetOrder, FleetReport } from './fleet-messages.ts';

const PROGRAM = 'dist/bench/fleet/fleet-process-main.js';
const START_MAX_MS = 120_000;
const RESTART_MAX_MS = 60_000;

type Ended = Extract<FleetReport, { type: 'ended' }>;

export interface FleetProcesses {
  readonly nodes: readonly string[];
  readonly pids: readonly number[];
  tell(command: FleetCommand): void;
  onReport(handle: (report: FleetReport) => void): void;
  /** One node of each process after the other. Resolves with how many were started anew. */
  restartAll(): Promise<number>;
  /** Ends all nodes. */
  stop(): Promise<readonly Ended[]>;
  readEvents(): ProofEvent[];
  kill(): void;
}

type Shared = Omit<FleetOrder, 'nodes' | 'eventsFile'>;

export async function startFleetProcesses(
  shared: Shared,
  { nodes, processes }: { readonly nodes: number; readonly processes: number },
): Promise<FleetProcesses> {
  const handlers: ((report: FleetReport) => void)[] = [];
  const names = Array.from({ length: nodes }, (_, n) => `node-${String(n).padStart(4, '0')}`);
  const parts = Array.from({ length: processes }, (_, p) => ({
    own: names.filter((__, n) => n % processes === p),
    eventsFile: join(shared.dir, `events-${p}`),
    orderFile: join(shared.dir, `order-${p}.json`),
  }));
  let up = 0;
  handlers.push(({ type }) => {
    if (type === 'up') up += 1;
  });
  const children = parts.map(({ own, eventsFile, orderFile }, p) => {
    const order: FleetOrder = { ...shared, nodes: own, eventsFile, seed: shared.seed + p };
    writeFileSync(orderFile, JSON.stringify(order));
    const child = fork(PROGRAM, [orderFile]);
    child.on('message', (report) => {
      for (const handle of handlers) handle(report as FleetReport);
    });
    return child;
  });
  const send = (child: ChildProcess, command: FleetCommand) => void child.send(command);
  await waitUntil(
    () => up >= nodes || children.some(hasEnded),
    () => `all nodes are up, not ${up}`,
    START_MAX_MS,
  );
  if (children.some(hasEnded)) throw new Error('a process of nodes has ended');

  return {
    nodes: names,
    pids: children.map(({ pid }) => pid ?? 0),
    tell: (command) => {
      for (const child of children) send(child, command);
    },
    onReport: (handle) => void handlers.push(handle),
    async restartAll() {
      const runOne = async (p: number) => {
        const child = children[p];
        if (child === undefined) return;
        for (const node of parts[p]?.own ?? []) {
          let isUp = false;
          handlers.push((report) => {
            if (report.type === 'up' && report.node === node) isUp = true;
          });
          send(child, { type: 'restart', node });
          await waitUntil(() => isUp, `${node} is up again`, RESTART_MAX_MS);
        }
      };
      await Promise.all(children.map((_, p) => runOne(p)));
      return nodes;
    },
    async stop() {
      const ended: Ended[] = [];
      handlers.push((report) => {
        if (report.type === 'ended') ended.push(report);
      });
      const exits = children.map((child) => once(child, 'exit'));
      for (const child of children) send(child, { type: 'end' });
      await Promise.all(exits);
      return ended;
    },
    readEvents: () => parts.flatMap(({ eventsFile }) => readEvents(eventsFile)),
    kill() {
      for (const child of children) if (!hasEnded(child)) child.kill('SIGKILL');
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
