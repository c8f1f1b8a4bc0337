import { mergeLatencies } from '../lib/time/merge-latencies.ts';
import { creditsOf } from '../lib/units/micros.ts';
import type { Activity } from '../ops/activity.ts';
import type { EventHub } from '../ops/event-hub.ts';
import type { SummaryData } from '../ops/schemas/event-schemas.ts';
import type { WorkerProcess } from '../supervise/fork-worker.ts';

const SUMMARY_INTERVAL_MS = 1_000;

interface NodeEvents {
  /** Publishes when the worker starts, listens and ends, and counts the activity it reports. */
  follow(
    slot: number,
    fork: (onActivity: (activity: Activity) => void) => WorkerProcess,
  ): WorkerProcess;
  stop(): void;
}

/**
 * Publishes what happens in a node: the life of its workers, and once a second a summary of all
 * requests.
 */
export function createNodeEvents(events: EventHub): NodeEvents {
  const openOf = new Map<number, number>();
  let told: Activity[] = [];

  const note = (pid: number, activity: Activity) => {
    if (activity.open === 0) openOf.delete(pid);
    else openOf.set(pid, activity.open);
    // A worker reports once a second, and the reports are collected once a second.
    if (events.hasSubscribers()) told.push(activity);
  };

  const publishSummary = () => {
    const taken = told;
    told = [];
    if (!events.hasSubscribers()) return;
    const open = [...openOf.values()].reduce((sum, count) => sum + count, 0);
    events.publish({ type: 'summary', data: summarise(taken, open) });
  };
  const timer = setInterval(publishSummary, SUMMARY_INTERVAL_MS);

  return {
    follow(slot, fork) {
      let isGone = false;
      const worker: WorkerProcess = fork((activity) => {
        // A report that the worker sent before its end can arrive after the news of its exit.
        note(worker.pid, isGone ? { ...activity, open: 0 } : activity);
      });
      const tell = (state: string, more: object = {}) =>
        events.publish({ type: 'worker', data: { worker: slot, pid: worker.pid, state, ...more } });
      tell('started');
      worker.listening.then(
        () => tell('listening'),
        () => {},
      );
      void worker.exited.then((exit) => {
        isGone = true;
        openOf.delete(worker.pid);
        tell(exit.code === 0 ? 'ended' : 'died', exit);
      });
      return worker;
    },
    stop: () => clearInterval(timer),
  };
}

function summarise(told: readonly Activity[], open: number): SummaryData {
  const sum = (count: (activity: Activity) => number) =>
    told.reduce((total, activity) => total + count(activity), 0);
  const refusals: Record<string, number> = {};
  for (const [name, count] of told.flatMap((activity) => Object.entries(activity.refusals))) {
    refusals[name] = (refusals[name] ?? 0) + count;
  }
  return {
    requests: sum(({ requests }) => requests),
    refused: sum(({ refused }) => refused),
    refusals,
    streams: sum(({ streams }) => streams),
    credits: creditsOf(sum(({ chargedMicros }) => chargedMicros)),
    open,
    latency_ms: mergeLatencies(told.flatMap(({ latencies }) => latencies)) ?? null,
    first_event_ms: mergeLatencies(told.flatMap(({ firstEvents }) => firstEvents)) ?? null,
  };
}
