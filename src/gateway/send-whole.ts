import { formatCredits } from '../lib/units/micros.ts';
import {
  type AnswerCollector,
  createAnswerCollector,
} from '../protocol/answers/answer-collector.ts';
import type { Answer, AnswerPart, Usage } from '../protocol/inference.ts';
import type { Delivery } from './delivery.ts';
import type { AnswerEnd } from './meter.ts';

const JSON_HEAD = { status: 200, headers: { 'content-type': 'application/json' } };

/** One JSON body, when the answer is complete and its client still there. */
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
  // A charge above what is held may be cut when it is settled, which is after this answer.
  const chargeMicros = meter.seenMicros(true);
  if (chargeMicros <= heldMicros) {
    client.addHeaders({ 'x-tollgate-credits-charged': formatCredits(chargeMicros) });
  }
  const body = whole.write();
  recorder.noteAnswer();
  client.answer(JSON_HEAD, body);
  return 'complete';
}

/** A class, because one is made for every request that is no stream. */
class WholeAnswer {
  readonly #delivery: Delivery;
  #collector: AnswerCollector | undefined;
  #closing: AnswerPart['closing'];
  #charged: Usage | undefined;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  /** What is added for a client that has left is counted, and not kept. */
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

  write(): string | Uint8Array {
    const { format, context } = this.#delivery;
    if (this.#closing !== undefined && this.#charged !== undefined) {
      return this.#closing(this.#charged);
    }
    return format.encodeAnswer((this.#collector ?? createAnswerCollector()).finish(), context);
  }
}
