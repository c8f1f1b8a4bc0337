import type { Answer, AnswerPart, TakePart } from '../protocol/inference.ts';
import type { Deadline } from '../timers/deadline-list.ts';
import type { AnswerDeadlines, DeadlineHolder, Overdue } from './answer-deadlines.ts';
import {
  isMereBeginning,
  joinParts,
  keepPart,
  type PushedPart,
  SIGN_OF_LIFE,
  saysAnything,
} from './pushed-part.ts';

/** Bytes beyond this wait at the socket, then at the upstream. One event may have any size. */
const BYTES_WAITING_MAX = 16 * 1024;
/** A beginning may repeat a long request. */
const HELD_BYTES_MAX = 512 * 1024;

export interface AnswerSource {
  /** Nothing more is pushed after this, except a little that was already on its way. */
  pause(): void;
  resume(): void;
  /** Whether the whole request has been sent. */
  isSent(): boolean;
  /** Nobody takes any more parts. */
  abort(): void;
  /** Its time is over. */
  judgeOverdue(): Overdue;
}

type Result = IteratorResult<AnswerPart>;

interface Asker<Value = Result> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** A caller that takes parts as they come. */
interface Taker extends Asker<boolean> {
  readonly take: TakePart;
}

const NEXT_MICROTASK = Promise.resolve();
const DONE: Result = { done: true, value: undefined };

/**
 * Passes on what a socket brings. The caller either asks for one part at a time, within its
 * deadlines, or takes parts as they come: then all that came in one read is one part.
 *
 *   source ──push──▶ waiting ──next──▶ asker
 *      │                └──────flush──▶ taker, in the turn of the read
 *      └──finish, fail, expire──▶ end, behind all that waits
 *
 * For a while, the first part waits until the upstream has said more than that its answer begins.
 * If the answer ends before that, another upstream can still be asked.
 *
 * A pushed part may lie in memory that the next read uses again. So every part is copied, except
 * one that a free taker gets with the `flush` that ends the read.
 *
 * Written by hand, because a generator could not be ended while it waits for the socket.
 */
export class PartQueue implements Answer, DeadlineHolder {
  totalDeadline: Deadline<DeadlineHolder> | undefined;
  firstByteDeadline: Deadline<DeadlineHolder> | undefined;
  idleDeadline: Deadline<DeadlineHolder> | undefined;
  beginningDeadline: Deadline<DeadlineHolder> | undefined;
  readonly #source: AnswerSource;
  readonly #deadlines: AnswerDeadlines;
  #waiting: PushedPart[] = [];
  #waitingBytes = 0;
  #end: { readonly error: unknown } | 'finished' | undefined;
  #asker: Asker | undefined;
  #taker: Taker | undefined;
  /** The taker is busy: its client has to catch up first. */
  #isTaking = false;
  #isPaused = false;
  #isAnswering = false;
  #hasAsked = false;
  #hasEmitted = false;
  /** Nothing has come, or mere beginnings, which wait. */
  #isHeld = true;

  constructor(source: AnswerSource, deadlines: AnswerDeadlines) {
    this.#source = source;
    this.#deadlines = deadlines;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Adds the part that this many bytes from the socket brought. */
  push(part: PushedPart, readBytes: number): void {
    if (this.#end !== undefined) return;
    this.#add(part, readBytes);
    this.#answerSoon();
    if (this.#isOverFull()) this.flush();
    if (!this.#isOverFull() || this.#isPaused || this.#asker !== undefined) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  /** The current read brings nothing more. */
  flush(): void {
    const taker = this.#taker;
    if (taker === undefined || this.#isTaking) return;
    if (this.#waiting.length > 0) this.#handOver(taker);
    else if (this.#end !== undefined) this.#endTaker(taker, this.#end);
  }

  /** Adds the last part. */
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

  emitBeginning(): void {
    this.#isHeld = false;
    this.#answerAsker();
  }

  judgeOverdue(): Overdue {
    return this.#source.judgeOverdue();
  }

  /** Parts that still wait are lost with the answer, since nobody asked for them in time. */
  expire(error: unknown): void {
    if (this.#end === undefined) this.#source.abort();
    this.#waiting = [];
    this.#end = { error };
    this.#deadlines.noteOver(this);
    this.#answerAsker();
    this.flush();
  }

  next(): Promise<Result> {
    if (this.#waiting.length === 0 && this.#end === undefined) this.#noteAsked();
    return new Promise((resolve, reject) => {
      this.#asker = { resolve, reject };
      this.#answerAsker();
    });
  }

  pour(take: TakePart): Promise<boolean> {
    if (this.#waiting.length === 0 && this.#end === undefined) this.#noteAsked();
    return new Promise((resolve, reject) => {
      this.#taker = { take, resolve, reject };
      this.flush();
    });
  }

  isSent(): boolean {
    return this.#source.isSent();
  }

  async return(): Promise<Result> {
    if (this.#end === undefined) this.#source.abort();
    this.#waiting = [];
    this.#close('finished');
    return DONE;
  }

  #noteAsked(): void {
    if (!this.#hasAsked) this.#deadlines.noteFirstAsked(this);
    else if (this.#hasEmitted) this.#deadlines.noteAsked(this);
    this.#hasAsked = true;
  }

  #close(how: { readonly error: unknown } | 'finished'): void {
    if (this.#end === undefined) {
      this.#end = how;
      if (how !== 'finished' && this.#isHeld) this.#waiting = [];
      this.#deadlines.noteOver(this);
    }
    this.#isHeld = false;
    this.#answerAsker();
    this.flush();
  }

  #isOverFull(): boolean {
    return this.#waitingBytes > BYTES_WAITING_MAX && this.#waiting.length > 0 && !this.#isHeld;
  }

  #add(part: PushedPart, readBytes: number): void {
    this.#waitingBytes += readBytes;
    if (!saysAnything(part)) {
      if (part === SIGN_OF_LIFE) this.#deadlines.noteAlive(this);
      return;
    }
    const isTakenAtOnce = this.#taker !== undefined && !this.#isTaking;
    this.#waiting.push(isTakenAtOnce ? part : keepPart(part));
    this.#isHeld &&= isMereBeginning(part) && this.#waitingBytes <= HELD_BYTES_MAX;
  }

  /** Answers after everything else that the same read brings. */
  #answerSoon(): void {
    if (this.#asker === undefined || this.#isAnswering) return;
    this.#isAnswering = true;
    // The same as `queueMicrotask`, which costs 0.1 us, twice as much.
    void NEXT_MICROTASK.then(() => {
      this.#isAnswering = false;
      this.#answerAsker();
    });
  }

  #answerAsker(): void {
    const asker = this.#asker;
    if (asker === undefined) return;
    if (this.#waiting.length > 0 && this.#isHeld) this.#deadlines.noteBegun(this);
    else if (this.#waiting.length > 0) {
      this.#asker = undefined;
      if (this.#end === undefined) this.#deadlines.noteEmitted(this);
      this.#hasEmitted = true;
      asker.resolve({ done: false, value: this.#take() });
    } else if (this.#end !== undefined) {
      this.#asker = undefined;
      const end = this.#end;
      this.#end = 'finished';
      if (end === 'finished') asker.resolve(DONE);
      else asker.reject(end.error);
    } else return;
    this.#resume();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  #handOver(taker: Taker): void {
    this.#hasEmitted = true;
    const part = this.#take();
    const isLast = part.isLast === true;
    try {
      const wantsMore = taker.take(part);
      if (typeof wantsMore === 'boolean') this.#goOn(taker, wantsMore || isLast);
      else this.#waitForTaker(taker, wantsMore, isLast);
    } catch (error) {
      this.#dismiss(taker, () => taker.reject(error));
    }
  }

  /** A client that reads slowly is not held against the upstream. */
  #waitForTaker(taker: Taker, wantsMore: Promise<boolean>, isLast: boolean): void {
    this.#isTaking = true;
    if (this.#end === undefined) this.#deadlines.noteEmitted(this);
    wantsMore.then(
      (isMoreWanted) => {
        this.#isTaking = false;
        this.#goOn(taker, isMoreWanted || isLast);
      },
      (error: unknown) => this.#dismiss(taker, () => taker.reject(error)),
    );
  }

  #goOn(taker: Taker, isGoodSoFar: boolean): void {
    // The taker's own write may have ended the answer.
    if (this.#taker !== taker) return;
    if (!isGoodSoFar) {
      this.#dismiss(taker, () => taker.resolve(false));
      return;
    }
    if (this.#end === undefined) this.#deadlines.noteAsked(this);
    this.#resume();
    this.flush();
  }

  #endTaker(taker: Taker, end: { readonly error: unknown } | 'finished'): void {
    this.#end = 'finished';
    this.#dismiss(taker, () => {
      if (end === 'finished') taker.resolve(true);
      else taker.reject(end.error);
    });
  }

  #dismiss(taker: Taker, answer: () => void): void {
    if (this.#taker !== taker) return;
    this.#taker = undefined;
    this.#isTaking = false;
    if (this.#end === undefined) this.#deadlines.noteEmitted(this);
    answer();
  }

  #take(): AnswerPart {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    return joinParts(waiting, this.#end === 'finished' ? true : undefined);
  }
}
