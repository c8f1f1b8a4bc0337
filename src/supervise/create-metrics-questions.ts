import type { MessageToWorker } from '../messages/worker-messages.ts';
import type { MetricSnapshot } from '../metrics/metric-snapshot.ts';

/** A worker that takes longer counts in a scrape with the counters that it told last. */
const ANSWER_TIME_MAX_MS = 1_000;

type Snapshot = readonly MetricSnapshot[];

interface MetricsQuestions {
  /** Rejects when the worker does not answer in time. */
  ask(): Promise<Snapshot>;
  noteAnswer(id: number, metrics: Snapshot): void;
  /** Rejects all open questions, because the worker is gone. */
  end(): void;
}

/** The primary's questions to one worker. */
export function createMetricsQuestions(tellWorker: (message: MessageToWorker) => void) {
  const waiting = new Map<number, (metrics: Snapshot | undefined) => void>();
  let lastId = 0;
  const questions: MetricsQuestions = {
    async ask() {
      lastId += 1;
      const id = lastId;
      const metrics = await new Promise<Snapshot | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), ANSWER_TIME_MAX_MS);
        waiting.set(id, (answer) => {
          clearTimeout(timer);
          resolve(answer);
        });
        tellWorker({ type: 'read_metrics', id });
      });
      waiting.delete(id);
      if (metrics === undefined) throw new Error('the worker did not tell its metrics');
      return metrics;
    },
    noteAnswer: (id, metrics) => waiting.get(id)?.(metrics),
    end() {
      for (const settle of waiting.values()) settle(undefined);
    },
  };
  return questions;
}
