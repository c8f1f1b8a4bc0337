import { createQuestions } from '../messages/create-questions.ts';
import type { MessageToWorker } from '../messages/worker-messages.ts';
import type { MetricSnapshot } from '../metrics/metric-snapshot.ts';

/** A worker that takes longer counts in a scrape with the counters that it last reported. */
const ANSWER_TIME_MAX_MS = 1_000;

/** The primary's questions to one worker. */
export function createMetricsQuestions(sendToWorker: (message: MessageToWorker) => void) {
  const { ask, noteAnswer, end } = createQuestions<readonly MetricSnapshot[]>({
    answerTimeMaxMs: ANSWER_TIME_MAX_MS,
    failure: 'the worker did not tell its metrics',
  });
  return { ask: () => ask((id) => sendToWorker({ type: 'read_metrics', id })), noteAnswer, end };
}
