import { formatCredits } from '../lib/micros.ts';
import { type AnswerCollector, createAnswerCollector } from '../protocol/collect-answer.ts';
import type { Format } from '../protocol/format.ts';
import type { Answer, AnswerContext } from '../protocol/inference.ts';
import type { AnswerEnd, Meter } from './meter-usage.ts';
import type { RequestRecorder } from './record-request.ts';
import type { ClientSide } from './steps.ts';

interface WholeAnswer {
  readonly client: ClientSide;
  readonly parts: Answer;
  readonly format: Format;
  readonly context: AnswerContext;
  readonly meter: Meter;
  readonly recorder: RequestRecorder;
  readonly heldMicros: number;
}

const JSON_HEAD = { status: 200, headers: { 'content-type': 'application/json' } };

/** One JSON body, when the answer is complete. */
export async function sendWhole(answer: WholeAnswer): Promise<AnswerEnd> {
  const { client, parts, format, context, meter, recorder, heldMicros } = answer;
  let collector: AnswerCollector | undefined;
  let bytes: Uint8Array | undefined;
  for (;;) {
    recorder.beginUpstreamWait();
    const { done, value: part } = await parts.next();
    recorder.endUpstreamWait();
    if (done === true) break;
    bytes = part.bytes;
    meter.noteContent(part.contentBytes);
    for (const event of part.events) {
      const counted = meter.note(event);
      if (bytes !== undefined) continue;
      collector ??= createAnswerCollector();
      collector.add(counted);
    }
    if (part.isLast === true) break;
  }
  // A charge above what is held may be cut when it is settled, which is after this answer.
  const { chargeMicros } = meter.close('complete');
  if (chargeMicros <= heldMicros) {
    client.addHeaders({ 'x-tollgate-credits-charged': formatCredits(chargeMicros) });
  }
  recorder.noteAnswer();
  client.answer(
    JSON_HEAD,
    bytes ?? format.encodeAnswer((collector ?? createAnswerCollector()).finish(), context),
  );
  return 'complete';
}
