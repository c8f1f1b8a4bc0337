import type { RouteFormat } from '../protocol/format.ts';
import type { AnswerContext } from '../protocol/inference.ts';
import type { AnswerReservation } from './answer-keeper.ts';
import type { ClientLeave } from './client-leave.ts';
import type { ClientSide } from './client-side.ts';
import type { Meter } from './meter.ts';
import type { RequestRecorder } from './request-recorder.ts';

/** An admitted request with all that is needed to send its answer. */
export interface Delivery {
  readonly client: ClientSide;
  readonly format: RouteFormat;
  readonly context: AnswerContext;
  readonly leave: ClientLeave;
  readonly meter: Meter;
  readonly recorder: RequestRecorder;
  readonly heldMicros: number;
  /** Undefined if the answer is not to be kept. */
  readonly reservation: Pick<AnswerReservation, 'keep'> | undefined;
}
