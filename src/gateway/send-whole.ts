import { createAnswerCollector } from '../protocol/collect-answer.ts';
import type { AnswerContext, Format } from '../protocol/format.ts';
import type { InferenceEvent } from '../protocol/inference.ts';
import type { ClientSide } from './steps.ts';

/** One JSON body, when the answer is complete. */
export async function sendWhole(
  client: ClientSide,
  events: AsyncIterable<InferenceEvent>,
  format: Format,
  context: AnswerContext,
): Promise<void> {
  const collector = createAnswerCollector();
  for await (const event of events) collector.add(event);
  client.answer(
    { status: 200, headers: { 'content-type': 'application/json' } },
    format.encodeAnswer(collector.finish(), context),
  );
}
