import type { Catalogue } from '../catalogue/resolve-model.ts';
import type { Infer } from '../protocol/inference.ts';

/** What the spine needs from outside. A step throws a `Refusal` when it says no. */
export interface Steps {
  authenticate(key: string): void;
  readonly catalogue: Catalogue;
  /** What becomes of a `max_tokens` above the model's ceiling. */
  readonly overCeiling: 'reject' | 'clamp';
  readonly infer: Infer;
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

/** A stream of bytes to the client. */
export interface ClientStream {
  readonly isFinished: boolean;
  /** A promise when the client is slower than its upstream. */
  write(text: string): Promise<void> | undefined;
  endStream(): void;
}

interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The client's end of one exchange. */
export interface ClientSide {
  readonly requestId: string;
  readonly signal: AbortSignal;
  header(name: string): string | undefined;
  body(): Promise<Uint8Array>;
  answer(head: AnswerHead, body: string): void;
  startStream(head: AnswerHead): ClientStream;
}
