import { formatCredits } from '../lib/units/micros.ts';
import {
  type AnswerCollector,
  createAnswerCollector,
} from '../protocol/answers/answer-collector.ts';
import type { Answer, AnswerPart, Usage } from '../protocol/inference.ts';
import type { Delivery } from './delivery.ts';
import type { AnswerEnd } from './meter.ts';

const JSON_HEAD = { status: 200, headers: { 'content-type': 'application/json' } };

/** Sends one JSON body when the answer is complete, if its client is still there. */
export async function sendWhole(delivery: Delivery, parts: Answer): Promise<AnswerEnd> {
  const { client, leave, meter, recorder, heldMicros } = delivery;
  const whole = new WholeAnswer(delivery);
  for (;;) {
    recorder.waitFor('upstream');
    const { done, value: part } = await parts.next();
    recorder.waitFor('nobody');
    if (done === true) break;
    whole.add(part);
    if (part.isLast === true) break;
  }
  if (leave.hasLeft) return 'complete';
  // Settlement may cut a charge above what is held, and it happens after this answer.
  const chargeMicros = meter.seenMicros(true);
  if (chargeMicros <= heldMicros) {
    client.addHeaders({ 'x-tollgate-credits-charged': formatCredits(chargeMicros) });
  }
  const body = await whole.write();
  recorder.noteAnswer();
  client.answer(JSON_HEAD, body);
  return 'complete';
}

class WholeAnswer {
  readonly #delivery: Delivery;
  #collector: AnswerCollector | undefined;
  #closing: AnswerPart['closing'];
  #charged: Usage | undefined;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  /** If the client has left, the part is counted but not kept. */
  add({ events, contentBytes, closing }: AnswerPart): void {
    const { leave, meter } = this.#delivery;
    meter.noteContent(contentBytes);
    this.#closing = closing;
    for (const event of events) {
      const counted = meter.note(event);
      if (counted.type === 'finish') this.#charged = counted.usage;
      if (closing !== undefined || leave.hasLeft) continue;
      this.#collector ??= createAnswerCollector();
      this.#collector.add(counted);
    }
  }

  /** An answer is kept before its client can refer to it. */
  write(): string | Uint8Array | Promise<string> {
    const { format, context, reservation } = this.#delivery;
    if (this.#closing !== undefined && this.#charged !== undefined) {
      return this.#closing(this.#charged);
    }
    const answer = (this.#collector ?? createAnswerCollector()).finish();
    const kept = reservation && format.keepRules?.describeAnswer(answer, context);
    const { response } = context;
    if (reservation === undefined || kept === undefined || response === undefined) {
      return format.encodeAnswer(answer, context);
    }
    return reservation
      .keep(kept)
      .then((isKept) =>
        format.encodeAnswer(answer, { ...context, response: { ...response, isKept } }),
      );
  }
}
