import type { MessageToPrimary } from '../../src/messages/worker-messages.ts';
import { openSettleJournal, type SettleJournal } from '../../src/quota/journal/settle-journal.ts';
import type { SettleReply } from '../../src/quota/scripts/settle.ts';
import { decodeSettlement, type Settlement } from '../../src/quota/settlement/settlement.ts';
import { createSettleQueue, type SettleQueue } from '../../src/quota/settling/settle-queue.ts';
import { createGatherer } from '../../src/redis/create-gatherer.ts';
import { createHandOver } from '../../src/worker/create-hand-over.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import type { SimulatedStore } from './simulated-store.ts';
import type { SimulatedProcess, SimulatedTime } from './simulated-time.ts';

export const JOURNAL_DIR = '/journal';
const WORKERS = 2;
const MESSAGE_MS = 0.2;
const WATCH_MS = 1_000;
const DRAIN_MAX_MS = 10_000;
/** A worker that waits longer for a primary that is well has forgotten to hand over. */
const WAIT_MAX_MS = 15_000;

export interface SimulatedWorker {
  readonly process: SimulatedProcess;
  readonly queue: SettleQueue;
  /** What was added here, and neither answered nor handed over, is lost with the worker. */
  readonly added: Settlement[];
  readonly answered: Set<string>;
}

/** The settling machinery of one node, on a simulated clock, store and disk. */
export interface SimulatedNode {
  readonly workers: readonly SimulatedWorker[];
  /** Requests that the primary has said to have on its disk. */
  readonly journalled: ReadonlySet<string>;
  /** What was called twice or never should have been. */
  readonly problems: readonly string[];
  /** Requests of processes that have died; what they had acknowledged nobody sends again. */
  readonly ofDead: ReadonlySet<string>;
  killWorker(index: number): void;
  /** The workers notice, drain and end; then the node starts anew. */
  killPrimary(isPowerCut: boolean): void;
  /** For so long the primary neither reads messages nor looks at masters. */
  freeze(durationMs: number): void;
  /** Until then nobody can expect the primary to take settlements. */
  noteTrouble(durationMs: number): void;
  depth(): number;
}

interface World {
  readonly time: SimulatedTime;
  readonly store: SimulatedStore;
  readonly disk: SimulatedDisk;
}

interface Primary {
  readonly process: SimulatedProcess;
  journal: SettleJournal | undefined;
  frozenUntilMs: number;
}

export function startSimulatedNode({ time, store, disk }: World): SimulatedNode {
  const journalled = new Set<string>();
  const ofDead = new Set<string>();
  const problems: string[] = [];
  const workers: SimulatedWorker[] = [];
  const handed = new Set<string>();
  let troubledUntilMs = 0;
  let primary = startPrimary();

  function startPrimary(): Primary {
    const process = { name: 'primary', isAlive: true };
    const started: Primary = { process, journal: undefined, frozenUntilMs: 0 };
    time.inProcess(process, () => {
      const options = {
        dir: JOURNAL_DIR,
        settle: async (settlement: Settlement) => {
          handed.add(settlement.requestId);
          return (await store.settle([settlement]))[0] as SettleReply;
        },
        findCharged: async ({ requestId }: Settlement) => store.chargedOf(requestId),
        onSettled: () => {},
        clock: time,
        random: time.random.next,
        log: createMemoryLog(),
      };
      void openSettleJournal(options).then((journal) => {
        started.journal = journal;
        watch(started, journal);
      });
    });
    return started;
  }

  /** What `watchMasters` does, and how the workers hear of it. */
  function watch({ process }: Primary, journal: SettleJournal) {
    let known: number | undefined;
    let seenAtMs: number | undefined;
    const tell = (change: (part: Pick<SettleQueue, 'replay' | 'noteSame'>) => void) => {
      change(journal);
      for (const worker of workers) {
        time.happenLater(MESSAGE_MS, () => {
          if (worker.process.isAlive) time.inProcess(worker.process, () => change(worker.queue));
        });
      }
    };
    const look = () => {
      time.callLater(WATCH_MS, look);
      const nowMs = time.nowMs();
      if (store.isAway || primary.frozenUntilMs > nowMs) {
        seenAtMs = undefined;
        return;
      }
      const elapsedMs = seenAtMs === undefined ? undefined : nowMs - seenAtMs;
      seenAtMs = nowMs;
      if (store.masterId !== known) tell((part) => part.replay());
      else if (elapsedMs !== undefined) tell((part) => part.noteSame(elapsedMs));
      known = store.masterId;
    };
    time.inProcess(process, look);
  }

  /** Reads a message of a worker, as the primary does, and answers. */
  const receive = (message: MessageToPrimary, worker: SimulatedProcess, done: () => void) => {
    if (message.type !== 'journal') return;
    const reader = primary;
    const read = () => {
      const { journal, process, frozenUntilMs } = reader;
      if (!process.isAlive || journal === undefined) return;
      const waitMs = frozenUntilMs - time.nowMs();
      if (waitMs > 0) {
        time.happenLater(waitMs, read);
        return;
      }
      const settlements = message.settlements.map(decodeSettlement);
      time.inProcess(process, () => {
        const answer = () => {
          for (const { requestId } of settlements) journalled.add(requestId);
          time.happenLater(MESSAGE_MS, () => {
            if (worker.isAlive) time.inProcess(worker, done);
          });
        };
        journal.append(settlements).then(answer, () => {});
      });
    };
    time.happenLater(MESSAGE_MS, read);
  };

  const startWorker = (): SimulatedWorker => {
    const process = { name: 'worker', isAlive: true };
    const answered = new Set<string>();
    return time.inProcess(process, (): SimulatedWorker => {
      const handOver = createHandOver((message) =>
        receive(message, process, () => {
          if (message.type === 'journal') handOver.noteJournalled(message.id);
        }),
      );
      const settle = createGatherer<Settlement, Settlement, SettleReply>({
        connection: { atTurnEnd: (run) => void time.callLater(0, run) },
        canShare: () => true,
        isAlike: (first, settlement) => first.accountId === settlement.accountId,
        encode: (settlement) => settlement,
        runScript: (_first, run) => store.settle(run),
        readReply: (replies, index) => (replies as SettleReply[])[index] as SettleReply,
      });
      const queue = createSettleQueue({
        settle,
        handOver: handOver.send,
        onSettled(_reply, { requestId }) {
          if (answered.has(requestId)) problems.push(`${requestId} is settled twice by a worker`);
          answered.add(requestId);
        },
        onDropped: ({ requestId }) => problems.push(`${requestId} is dropped`),
        clock: time,
        random: time.random.next,
        log: createMemoryLog(),
      });
      return { process, queue, added: [], answered };
    });
  };

  const noteTrouble = (durationMs: number) => {
    troubledUntilMs = Math.max(troubledUntilMs, time.nowMs() + durationMs);
  };

  const bury = ({ process, added, answered }: SimulatedWorker) => {
    process.isAlive = false;
    const sinceMs = time.nowMs() - WAIT_MAX_MS;
    for (const { requestId, lastKnownMs } of added) {
      ofDead.add(requestId);
      const isSafe = answered.has(requestId) || journalled.has(requestId);
      if (!isSafe && lastKnownMs < sinceMs && troubledUntilMs < sinceMs) {
        problems.push(`${requestId} waited in a worker until that died`);
      }
    }
  };

  for (let i = 0; i < WORKERS; i++) workers.push(startWorker());
  return {
    workers,
    journalled,
    problems,
    ofDead,
    killWorker(index) {
      bury(workers[index] as SimulatedWorker);
      workers[index] = startWorker();
    },
    killPrimary(isPowerCut) {
      noteTrouble(DRAIN_MAX_MS);
      primary.process.isAlive = false;
      for (const requestId of handed) ofDead.add(requestId);
      handed.clear();
      const old = workers.splice(0);
      for (const worker of old) {
        if (isPowerCut) bury(worker);
        else void time.inProcess(worker.process, () => worker.queue.drain(DRAIN_MAX_MS));
      }
      if (isPowerCut) disk.cutPower();
      else {
        time.happenLater(DRAIN_MAX_MS, () => {
          for (const worker of old) bury(worker);
        });
      }
      primary = startPrimary();
      for (let i = 0; i < WORKERS; i++) workers.push(startWorker());
    },
    freeze(durationMs) {
      noteTrouble(durationMs);
      primary.frozenUntilMs = time.nowMs() + durationMs;
    },
    noteTrouble,
    depth: () =>
      (primary.journal?.depth ?? 1) + workers.reduce((sum, { queue }) => sum + queue.depth, 0),
  };
}
