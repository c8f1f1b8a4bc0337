import { creditsOf } from '../lib/micros.ts';
import type { Activity } from '../ops/activity.ts';
import type { EventHub } from '../ops/create-event-hub.ts';
import type { WorkerProcess } from './fork-worker.ts';

const SUMMARY_INTERVAL_MS = 1_000;

interface NodeEvents {
  /** Tells of a worker's life, and counts what it says of its requests. */
  follow(
    slot: number,
    fork: (onActivity: (activity: Activity) => void) => WorkerProcess,
  ): WorkerProcess;
  stop(): void;
}

/** What goes on in a node, for those who listen: its workers, and once a second all requests together. */
export function createNodeEvents(events: EventHub): NodeEvents {
  const openOf = new Map<number, number>();
  const none = { requests: 0, refused: 0, streams: 0, chargedMicros: 0 };
  let counts = { ...none };

  const note = (pid: number, activity: Activity) => {
    if (activity.open === 0) openOf.delete(pid);
    else openOf.set(pid, activity.open);
    counts.requests += activity.requests;
    counts.refused += activity.refused;
    counts.streams += activity.streams;
    counts.chargedMicros += activity.chargedMicros;
  };

  const summarise = () => {
    const { requests, refused, streams, chargedMicros } = counts;
    counts = { ...none };
    if (!events.hasSubscribers()) return;
    const open = [...openOf.values()].reduce((sum, count) => sum + count, 0);
    const data = { requests, refused, streams, credits: creditsOf(chargedMicros), open };
    events.publish({ type: 'summary', data });
  };
  const timer = setInterval(summarise, SUMMARY_INTERVAL_MS);

  return {
    follow(slot, fork) {
      let isGone = false;
      const worker: WorkerProcess = fork((activity) => {
        // What it said before its end can arrive after the news of it.
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
