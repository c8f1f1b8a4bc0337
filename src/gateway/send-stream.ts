import { pourAnswer } from '../protocol/answers/pour-answer.ts';
import type { RouteFormat, StreamEncoder } from '../protocol/format.ts';
import type {
  Answer,
  AnswerContext,
  AnswerPart,
  InferenceEvent,
  Usage,
} from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { AnswerToKeep } from '../protocol/responses/references.ts';
import { createDeadlineList } from '../timers/deadline-list.ts';
import { type ClientLeave, CUT_OFF } from './client-leave.ts';
import type { ClientStream } from './client-side.ts';
import type { Delivery } from './delivery.ts';
import type { AnswerEnd, Meter } from './meter.ts';
import type { RequestRecorder } from './request-recorder.ts';

/** Proxies and clients give up on a connection that is silent for a long time. */
const SILENCE_MAX_MS = 10_000;

const STREAM_HEAD = {
  status: 200,
  headers: {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    // Without this, nginx holds events back until its buffer is full.
    'x-accel-buffering': 'no',
  },
};

/** One list for the streams of all requests. */
const silences = createDeadlineList<StreamSender>({
  afterMs: SILENCE_MAX_MS,
  nowMs: () => performance.now(),
  onDue: (sender) => sender.breakSilence(),
});

/**
 * Sends parts as they come. The status line waits for the first part: before it, a failure is a
 * plain error, which clients retry; after it, a failure is the last event of the stream.
 */
export async function sendStream(delivery: Delivery, parts: Answer): Promise<AnswerEnd> {
  const { client, leave, meter, recorder } = delivery;
  const sender = await beginStream(delivery, parts);
  let end: AnswerEnd = 'complete';
  try {
    const isMoreWanted = await sender.takeFirst();
    recorder.waitFor('upstream');
    if (isMoreWanted) await pourAnswer(parts, (part) => sender.take(part));
    recorder.waitFor('nobody');
    if (sender.isFinished && !sender.isComplete && !leave.isUnread) return 'left';
  } catch (error) {
    recorder.waitFor('nobody');
    if (error === CUT_OFF) return 'left';
    noteFailed(error, meter);
    if (error instanceof Refusal && leave.isUnread) return 'failed';
    if (!(error instanceof Refusal) || sender.isFinished) throw error;
    end = 'failed';
    recorder.noteFailure(error, false);
    await sender.sendError(error, client.requestId);
  } finally {
    sender.close();
    // If the client left first, this stops the upstream.
    await parts.return?.();
  }
  sender.end();
  return end;
}

/** An upstream may report together with its failure what it used. */
function noteFailed(error: unknown, meter: Meter): void {
  const usage = error instanceof Refusal ? error.reportedUsage : undefined;
  if (usage !== undefined) meter.note({ type: 'usage', usage });
}

/**
 * A separate function, because a function that waits for the rest of a stream would keep the first
 * part in memory until then.
 */
async function beginStream(delivery: Delivery, parts: Answer): Promise<StreamSender> {
  const { client, leave, recorder } = delivery;
  recorder.waitFor('upstream');
  const first = await parts.next();
  recorder.waitFor('nobody');
  if (first.done === true) throw new Refusal('upstream_broken', 'The upstream gave no answer.');

  if (!leave.hasLeft) recorder.noteAnswer();
  return new StreamSender(client.startStream(STREAM_HEAD), delivery, first.value);
}

class StreamSender {
  readonly #stream: ClientStream;
  readonly #format: RouteFormat;
  readonly #context: AnswerContext;
  readonly #leave: ClientLeave;
  readonly #meter: Meter;
  readonly #recorder: RequestRecorder;
  readonly #reservation: Delivery['reservation'];
  readonly #silence = silences.add(this);
  /**
   * Created when needed: most streams relay the bytes of their upstream and need no encoder, which
   * saves memory for the many open streams.
   */
  #encoder: StreamEncoder | undefined;
  /** The number of the event that follows what the client was sent, if events have numbers. */
  #nextNumber: number | undefined;
  /** The client has to catch up, so it is not idle. */
  #isBehind = false;
  #isComplete = false;
  #first: AnswerPart | undefined;

  constructor(
    stream: ClientStream,
    { format, context, leave, meter, recorder, reservation }: Delivery,
    first: AnswerPart,
  ) {
    this.#stream = stream;
    this.#first = first;
    this.#format = format;
    this.#context = context;
    this.#leave = leave;
    this.#meter = meter;
    this.#recorder = recorder;
    this.#reservation = reservation;
  }

  get isFinished(): boolean {
    return this.#stream.isFinished;
  }

  /** Whether the stream has ended with its last part. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Returns whether there is more, and more is wanted. */
  takeFirst(): boolean | Promise<boolean> {
    const first = this.#first;
    this.#first = undefined;
    if (first === undefined) return true;
    const isMoreWanted = this.take(first);
    if (first.isLast !== true) return isMoreWanted;
    return typeof isMoreWanted === 'boolean' ? false : isMoreWanted.then(() => false);
  }

  take(part: AnswerPart): boolean | Promise<boolean> {
    silences.renew(this.#silence);
    const isLast = part.isLast === true;
    const bytes = this.#encode(part);
    if (bytes instanceof Promise) return bytes.then((kept) => this.#write(kept, isLast));
    return this.#write(bytes, isLast);
  }

  #write(bytes: string | Uint8Array, isLast: boolean): boolean | Promise<boolean> {
    if (bytes.length === 0) return this.#isMoreWanted();
    const caughtUp = isLast ? this.#writeLast(bytes) : this.#stream.write(bytes);
    return caughtUp === undefined ? this.#isMoreWanted() : this.#waitForClient(caughtUp);
  }

  #writeLast(bytes: string | Uint8Array): Promise<void> | undefined {
    if (this.#stream.isFinished) return undefined;
    const caughtUp = this.#stream.writeLast(bytes);
    if (caughtUp !== undefined) return caughtUp.then(() => this.#noteLastWritten());
    this.#noteLastWritten();
    return undefined;
  }

  /** A stream also finishes when its client leaves or its time is up. */
  #noteLastWritten(): void {
    const isOver = this.#leave.isUnread || this.#leave.signal.aborted;
    this.#isComplete = this.#stream.isFinished && !isOver;
  }

  sendError(error: Refusal, requestId: string): Promise<void> | undefined {
    const progress = this.#context.response?.progress;
    // The progress may already count events that the client was not sent.
    if (progress !== undefined) progress.nextNumber = this.#nextNumber ?? progress.nextNumber;
    return this.#stream.write(this.#needEncoder().encodeError(error, requestId));
  }

  breakSilence(): void {
    silences.renew(this.#silence);
    if (this.#isBehind) return;
    void this.#stream.write(this.#needEncoder().encodeSilence());
    if (this.#nextNumber !== undefined) this.#nextNumber += 1;
  }

  end(): void {
    this.#stream.endStream();
  }

  close(): void {
    silences.delete(this.#silence);
  }

  async #waitForClient(caughtUp: Promise<void>): Promise<boolean> {
    this.#recorder.waitFor('client');
    this.#isBehind = true;
    await caughtUp;
    this.#isBehind = false;
    this.#recorder.waitFor('upstream');
    return this.#isMoreWanted();
  }

  #isMoreWanted(): boolean {
    return this.#isComplete || !this.#stream.isFinished || this.#leave.goesOnUnread();
  }

  /** Counts what goes out, whether the upstream's own bytes or newly encoded ones. */
  #encode(part: AnswerPart): string | Uint8Array | Promise<string> {
    let text = '';
    let charged: Usage | undefined;
    const isEncoded = part.bytes !== undefined || part.closing !== undefined;
    const isWritten = !isEncoded && !this.#stream.isFinished;
    let { unreportedBytes = 0 } = part;
    this.#meter.noteContent(part.contentBytes - unreportedBytes);
    this.#nextNumber = part.nextNumber;
    for (const event of part.events) {
      if (event.type === 'finish') {
        this.#meter.noteContent(unreportedBytes);
        unreportedBytes = 0;
      }
      const counted = this.#meter.note(event);
      if (counted.type === 'finish') charged = counted.usage;
      if (!isWritten) continue;
      const kept = this.#reservation && this.#readKept(counted);
      if (kept !== undefined) return this.#encodeKept(text, counted, kept);
      text += this.#needEncoder().encode(counted);
    }
    if (unreportedBytes !== 0) this.#meter.noteContent(unreportedBytes);
    if (part.closing === undefined || charged === undefined) return part.bytes ?? text;
    return part.closing(charged);
  }

  /** The finish is the last event of its answer. */
  #readKept(event: InferenceEvent): AnswerToKeep | undefined {
    return event.type === 'finish' ? this.#needEncoder().readKept?.(event) : undefined;
  }

  /** An answer is kept before its client can refer to it: the next request may come at once. */
  async #encodeKept(text: string, finish: InferenceEvent, kept: AnswerToKeep): Promise<string> {
    const encoder = this.#needEncoder();
    encoder.noteKept?.((await this.#reservation?.keep(kept)) === true);
    return text + encoder.encode(finish);
  }

  #needEncoder(): StreamEncoder {
    this.#encoder ??= this.#format.createStreamEncoder(this.#context);
    return this.#encoder;
  }
}
