import type { Deadline } from '../lib/deadline-list.ts';
import type { Answer, AnswerPart, InferenceEvent } from '../protocol/inference.ts';
import type { Deadlines, Expirable } from './deadlines.ts';

/** More than this waits at the socket, and from there on at the upstream. One event more may be of any size. */
const BYTES_WAITING_MAX = 16 * 1024;

export interface AnswerSource {
  /** Nothing more is pushed, or a little that was on its way. */
  pause(): void;
  resume(): void;
  /** Nobody takes any more. */
  abort(): void;
}

export interface PushedPart {
  readonly events: readonly InferenceEvent[];
  readonly contentBytes: number;
  /** `undefined` where the client reads another form. */
  readonly bytes: readonly Uint8Array[] | undefined;
}

type Result = IteratorResult<AnswerPart>;

interface Asker {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const NEXT_MICROTASK = Promise.resolve();
const DONE: Result = { done: true, value: undefined };

/**
 * What a socket brings, for somebody who asks for one part at a time and within its deadlines: all that came in one
 * read goes on as one.
 *
 *   source ──push──▶ waiting ──next──▶ asker
 *      └──finish, fail, expire──▶ end, behind all that waits
 *
 * Written by hand, because a generator could not be ended while it waits for the socket.
 */
export class AnswerParts implements Answer, Expirable {
  totalDeadline: Deadline<Expirable> | undefined;
  firstByteDeadline: Deadline<Expirable> | undefined;
  idleDeadline: Deadline<Expirable> | undefined;
  readonly #source: AnswerSource;
  readonly #deadlines: Deadlines;
  #waiting: PushedPart[] = [];
  #waitingBytes = 0;
  #end: { readonly error: unknown } | 'finished' | undefined;
  #asker: Asker | undefined;
  #isPaused = false;
  #isAnswering = false;
  #hasAsked = false;
  #hasTold = false;

  constructor(source: AnswerSource, deadlines: Deadlines) {
    this.#source = source;
    this.#deadlines = deadlines;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** What so many bytes from the socket brought. */
  push(part: PushedPart, readBytes: number): void {
    if (this.#end !== undefined) return;
    this.#add(part, readBytes);
    this.#answerSoon();
    if (this.#waitingBytes > BYTES_WAITING_MAX && this.#waiting.length > 0 && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
  }

  /** The same, and nothing follows. */
  pushLast(part: PushedPart): void {
    if (this.#end !== undefined) return;
    this.#add(part, 0);
    this.#close('finished');
  }

  finish(): void {
    this.#close('finished');
  }

  fail(error: unknown): void {
    this.#close({ error });
  }

  /** What waits is lost with the answer, which nobody has asked for in time. */
  expire(error: unknown): void {
    if (this.#end === undefined) this.#source.abort();
    this.#waiting = [];
    this.#end = { error };
    this.#deadlines.noteOver(this);
    this.#answerAsker();
  }

  next(): Promise<Result> {
    if (this.#waiting.length === 0 && this.#end === undefined) this.#noteAsked();
    return new Promise((resolve, reject) => {
      this.#asker = { resolve, reject };
      this.#answerAsker();
    });
  }

  async return(): Promise<Result> {
    if (this.#end === undefined) this.#source.abort();
    this.#waiting = [];
    this.#close('finished');
    return DONE;
  }

  #noteAsked(): void {
    if (!this.#hasAsked) this.#deadlines.noteFirstAsked(this);
    else if (this.#hasTold) this.#deadlines.noteAsked(this);
    this.#hasAsked = true;
  }

  #close(how: { readonly error: unknown } | 'finished'): void {
    if (this.#end === undefined) {
      this.#end = how;
      this.#deadlines.noteOver(this);
    }
    this.#answerAsker();
  }

  #add(part: PushedPart, readBytes: number): void {
    this.#waitingBytes += readBytes;
    // The beginning of an event is nothing that anybody could take, however long it is.
    if (part.events.length > 0 || (part.bytes?.length ?? 0) > 0) this.#waiting.push(part);
  }

  /** Behind everything else that the same read brings. */
  #answerSoon(): void {
    if (this.#asker === undefined || this.#isAnswering) return;
    this.#isAnswering = true;
    // As `queueMicrotask`, which costs 0.1 us, twice as much.
    void NEXT_MICROTASK.then(() => {
      this.#isAnswering = false;
      this.#answerAsker();
    });
  }

  #answerAsker(): void {
    const asker = this.#asker;
    if (asker === undefined) return;
    if (this.#waiting.length > 0) {
      this.#asker = undefined;
      if (this.#end === undefined) this.#deadlines.noteTold(this);
      this.#hasTold = true;
      asker.resolve({ done: false, value: this.#take() });
    } else if (this.#end !== undefined) {
      this.#asker = undefined;
      const end = this.#end;
      this.#end = 'finished';
      if (end === 'finished') asker.resolve(DONE);
      else asker.reject(end.error);
    } else return;
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  #take(): AnswerPart {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    const [first, second] = waiting;
    return first !== undefined && second === undefined ? toPart(first) : joinParts(waiting);
  }
}

function toPart({ events, contentBytes, bytes }: PushedPart): AnswerPart {
  return { events, contentBytes, bytes: bytes && joinBytes(bytes) };
}

function joinParts(parts: readonly PushedPart[]): AnswerPart {
  const events: InferenceEvent[] = [];
  let pieces: Uint8Array[] | undefined;
  let contentBytes = 0;
  for (const part of parts) {
    contentBytes += part.contentBytes;
    for (const event of part.events) events.push(event);
    if (part.bytes === undefined) continue;
    pieces ??= [];
    for (const piece of part.bytes) pieces.push(piece);
  }
  return { events, contentBytes, bytes: pieces && joinBytes(pieces) };
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}
