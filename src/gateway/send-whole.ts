import { formatCredits } from '../lib/micros.ts';
import { type AnswerCollector, createAnswerCollector } from '../protocol/collect-answer.ts';
import type { Answer } from '../protocol/inference.ts';
import type { AnswerEnd } from './meter-usage.ts';
import type { Served } from './served.ts';

const JSON_HEAD = { status: 200, headers: { 'content-type': 'application/json' } };

/** One JSON body, when the answer is complete. */
export async function sendWhole(served: Served, parts: Answer): Promise<AnswerEnd> {
  const { client, format, context, meter, recorder, heldMicros } = served;
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
