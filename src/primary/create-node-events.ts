import type { Activity } from '../messages/activity.ts';
import type { PublishEvent } from '../ops/event-hub.ts';
import type { WorkerProcess } from '../supervise/fork-worker.ts';

interface NodeEvents {
  /** Publishes when the worker starts, listens and ends, and notes the activity it reports. */
  follow(
    slot: number,
    fork: (onActivity: (activity: Activity) => void) => WorkerProcess,
  ): WorkerProcess;
  /** How many requests are open in all workers. */
  readOpen(): number;
}

interface NodeEventsOptions {
  readonly publish: PublishEvent;
  readonly noteActivity: (activity: Activity) => void;
}

/** Publishes what happens in a node: the life of its workers, and what they do. */
export function createNodeEvents({ publish, noteActivity }: NodeEventsOptions): NodeEvents {
  const openOf = new Map<number, number>();

  const note = (pid: number, activity: Activity) => {
    if (activity.open === 0) openOf.delete(pid);
    else openOf.set(pid, activity.open);
    noteActivity(activity);
  };

  return {
    follow(slot, fork) {
      let isGone = false;
      const worker: WorkerProcess = fork((activity) => {
        // A report that the worker sent before its end can arrive after the news of its exit.
        note(worker.pid, isGone ? { ...activity, open: 0 } : activity);
      });
      const publishState = (state: string, more: object = {}) =>
        publish({ type: 'worker', data: { worker: slot, pid: worker.pid, state, ...more } });
      publishState('started');
      worker.listening.then(
        () => publishState('listening'),
        () => {},
      );
      void worker.exited.then((exit) => {
        isGone = true;
        openOf.delete(worker.pid);
        publishState(exit.code === 0 ? 'ended' : 'died', exit);
      });
      return worker;
    },
    readOpen: () => [...openOf.values()].reduce((sum, count) => sum + count, 0),
  };
}
