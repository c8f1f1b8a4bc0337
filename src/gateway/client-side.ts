import type { StopSignal } from '../lib/time/stop-signal.ts';
import type { ApiKey, Caller } from '../protocol/admission.ts';
import type { Refusal } from '../protocol/refusals.ts';

/** A stream of bytes to the client. */
export interface ClientStream {
  readonly isFinished: boolean;
  /** Returns a promise if the client is slower than its upstream. */
  write(chunk: string | Uint8Array): Promise<void> | undefined;
  /** Writes the last chunk, and ends the stream with it if the client keeps up. */
  writeLast(chunk: string | Uint8Array): Promise<void> | undefined;
  endStream(): void;
}

interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The client's end of one exchange. */
export interface ClientSide extends Caller {
  readonly requestId: string;
  readonly signal: StopSignal;
  /**
   * The body counts against the memory that the owner of the key may use. Call this again once
   * the owner is known.
   */
  body(key: ApiKey): Promise<Uint8Array>;
  /** Adds headers to whatever is answered, a refusal included. */
  addHeaders(headers: Readonly<Record<string, string>>): void;
  answer(head: AnswerHead, body: string | Uint8Array): void;
  startStream(head: AnswerHead): ClientStream;
  /** Aborts the signal: the upstream stops, and the client gets this refusal. */
  abort(refusal: Refusal): void;
  /** Closes the connection of a stream. */
  cutOff(): void;
}
