import { assert } from '../lib/assert.ts';
import { createDeferred, type Deferred } from '../lib/time/deferred.ts';
import { type CompleteHead, measureCork, writeAnswerHead } from './answer-head.ts';
import { encodeChunk } from './encode-chunk.ts';
import { FirstTurn } from './first-turn.ts';
import { closeAfterLinger, writeLastChunk, writeLastHeader } from './last-answer.ts';
import type { UwsResponse } from './load-uws.ts';
import { writeBeginning, writeHeadOnly, writeRest, writeWhole } from './whole-answer.ts';
import type { WriterContext, WriterOwner } from './writer-context.ts';

/**
 * Writes one answer. No other code touches the response after its head is read.
 *
 *   idle ──sendPlain──▶ plain ───┐
 *     │                          ├──▶ finished  (complete, closed by us, or gone)
 *     └──startStream──▶ stream ──┘
 *
 * The last answer of a connection is always a stream; last-answer.ts says why.
 */
export class ResponseWriter {
  readonly #res: UwsResponse;
  readonly #context: WriterContext;
  readonly #owner: WriterOwner;
  readonly #isLast: boolean;
  #state: 'idle' | 'plain' | 'stream' | 'finished' = 'idle';
  #unsentHead: CompleteHead | undefined;
  #closes = false;
  /** Bytes that the socket of a stream has not taken yet. */
  #queue: Uint8Array[] = [];
  /** Bytes written by a caller that did not wait although it was told to. */
  #unawaitedBytes = 0;
  #isBlocked = false;
  #isEnding = false;
  readonly #firstTurn = new FirstTurn();
  #drained: Deferred | undefined;
  #stallTimer: NodeJS.Timeout | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;

  /** `isLast`: uWS must take nothing that follows on the connection for a request. */
  constructor(res: UwsResponse, context: WriterContext, owner: WriterOwner, isLast: boolean) {
    this.#res = res;
    this.#context = context;
    this.#owner = owner;
    this.#isLast = isLast;
  }

  get hasStarted(): boolean {
    return this.#state !== 'idle';
  }

  /** Whether the last byte was handed over, at least to the queue. */
  get hasEnded(): boolean {
    return this.#state === 'plain' || this.#state === 'finished' || this.#isEnding;
  }

  get isFinished(): boolean {
    return this.#state === 'finished';
  }

  sendPlain(head: CompleteHead, body: Uint8Array, isHead: boolean, closes: boolean): void {
    assert(this.#state === 'idle', 'an answer is sent once');
    if (this.#isLast) {
      this.#sendLast(head, body, isHead);
      return;
    }
    this.#state = 'plain';
    if (isHead || body.length === 0) {
      // An answer that is complete at once lets any number of requests follow in one packet.
      const write = isHead ? writeHeadOnly : writeWhole;
      this.#goOnInNextTurn(() => this.#sendAtOnce(write, head, body, closes));
    } else if (closes && body.length <= measureCork(head, body.length)) {
      this.#sendAtOnce(writeWhole, head, body, true);
    } else {
      this.#sendWhole(head, body, closes);
    }
  }

  /** The head goes out with the first write. */
  startStream(head: CompleteHead, closes: boolean): void {
    assert(this.#state === 'idle', 'an answer is sent once');
    this.#closes = closes || this.#isLast;
    this.#state = 'stream';
    this.#unsentHead = head;
    this.#res.onWritable(() => this.#continueStream());
  }

  /**
   * Returns `undefined` if the client keeps up, else a promise that resolves when it has caught up
   * or left. A caller that does not wait is cut off at the limit of the queue; one chunk may have
   * any size. The caller may reuse the chunk's memory once this returns.
   */
  write(chunk: string | Uint8Array): Promise<void> | undefined {
    if (this.#state !== 'stream' || this.#isEnding) return undefined;
    const bytes = typeof chunk === 'string' ? encodeChunk(chunk) : chunk;
    const rest = this.#isBlocked ? this.#countUnawaited(bytes) : this.#push(bytes);
    if (rest !== undefined) this.#queue.push(new Uint8Array(rest));
    return this.#waitForClient();
  }

  /** Writes the last chunk. Ends the stream in the same system call if nothing waits. */
  writeLast(chunk: string | Uint8Array): Promise<void> | undefined {
    const bytes = typeof chunk === 'string' ? encodeChunk(chunk) : chunk;
    const isFree = this.#state === 'stream' && !this.#isEnding && !this.#isBlocked && !this.#isLast;
    const isAtOnce = isFree && this.#firstTurn.hasRoomForEnd(bytes.length, this.#unsentHead);
    if (!isAtOnce) return this.write(bytes);
    this.#isEnding = true;
    this.#endNow(bytes);
    return this.#waitForClient();
  }

  endStream(): void {
    if (this.#state !== 'stream' || this.#isEnding) return;
    this.#isEnding = true;
    if (this.#queue.length === 0 && !this.#isBlocked) this.#endNow();
  }

  /** Cuts the connection, so that the client does not take a partial answer for the whole one. */
  close(): void {
    if (this.#state === 'finished') return;
    this.#res.close();
    this.#finish();
  }

  /** Tells uWS that the connection is alive, however little data it moves. */
  touch(): void {
    if (this.#state === 'finished') return;
    this.#res.pause();
    this.#res.resume();
  }

  /** The client left: uWS forbids any further call on the response. */
  markGone(): void {
    clearTimeout(this.#lingerTimer);
    this.#finish();
  }

  #sendLast(head: CompleteHead, body: Uint8Array, isHead: boolean): void {
    this.startStream(head, true);
    if (isHead || body.length === 0) {
      this.#endLast(() => writeLastHeader(this.#res, body.length));
    } else {
      void this.write(body);
      if (this.#isBlocked) this.#context.blockedAnswers.add(this, body.length);
      this.endStream();
    }
  }

  #sendAtOnce(write: typeof writeWhole, head: CompleteHead, body: Uint8Array, closes: boolean) {
    this.#res.cork(() => write(this.#res, head, body, closes));
    this.#finish();
  }

  /** Waits if the answer before it is unread: uWS itself would hold any number of them. */
  #sendWhole(head: CompleteHead, body: Uint8Array, closes: boolean): void {
    const { accepted, done } = writeBeginning(this.#res, head, body, closes);
    if (done) {
      this.#finish();
      return;
    }
    const pump = (offset: number): boolean => {
      if (this.#state !== 'plain') return true;
      const isDone = writeRest(this.#res, body, offset);
      if (isDone) this.#finish();
      else this.#waitToWrite(body);
      return isDone;
    };
    this.#res.onWritable((offset) => {
      if (this.#state !== 'plain' || !this.#isBlocked) return true;
      this.#unblock();
      return pump(offset);
    });
    if (accepted) this.#goOnInNextTurn(() => pump(this.#res.getWriteOffset()));
    else this.#waitToWrite(body);
  }

  #waitToWrite(body: Uint8Array): void {
    this.#block();
    this.#context.blockedAnswers.add(this, body.length);
  }

  /** Returns the bytes that the socket does not take, if any. */
  #push(bytes: Uint8Array): Uint8Array | undefined {
    let at = 0;
    while (at < bytes.length && !this.isFinished) {
      if (this.#isBlocked) return bytes.subarray(at);
      const room = measureCork(this.#unsentHead, bytes.length - at);
      const slice = bytes.length <= room ? bytes : bytes.subarray(at, at + room);
      if (!this.#firstTurn.take(slice.length)) {
        this.#isBlocked = true;
        this.#goOnInNextTurn(() => this.#continueStream());
        return bytes.subarray(at);
      }
      this.#res.cork(() => {
        this.#writeUnsentHead();
        if (!this.#res.write(slice)) this.#block();
      });
      at += slice.length;
    }
    return undefined;
  }

  #waitForClient(): Promise<void> | undefined {
    if (!this.#isBlocked) return undefined;
    this.#drained ??= createDeferred();
    return this.#drained.promise;
  }

  #goOnInNextTurn(goOn: () => void): void {
    this.#firstTurn.goOnAfter(() => {
      if (this.#state !== 'finished') goOn();
    });
  }

  #countUnawaited(bytes: Uint8Array): Uint8Array | undefined {
    this.#unawaitedBytes += bytes.length;
    if (this.#unawaitedBytes <= this.#context.limits.streamQueueBytesMax) return bytes;
    this.close();
    return undefined;
  }

  #continueStream(): boolean {
    if (this.#lingerTimer !== undefined) {
      this.#res.cork(() => {});
      this.#lingerTimer.refresh();
    }
    if (this.#state !== 'stream') return true;
    this.#unblock();
    // With a handler set, uWS keeps the unsent rest of a write until the next one; an empty cork
    // sends it.
    this.#res.cork(() => {});
    const queue = this.#queue;
    this.#queue = [];
    for (const bytes of queue) {
      const rest = this.#isBlocked ? bytes : this.#push(bytes);
      if (rest !== undefined) this.#queue.push(rest);
    }
    if (this.#isBlocked) return false;
    this.#unawaitedBytes = 0;
    if (this.isFinished) return true;
    if (this.#isEnding) this.#endNow();
    this.#drained?.resolve();
    this.#drained = undefined;
    return true;
  }

  #endNow(last?: Uint8Array): void {
    if (this.#isLast) {
      this.#endLast(() => writeLastChunk(this.#res));
    } else {
      // A server that closes drops what uWS holds of an answer that has ended.
      let isTaken = true;
      this.#res.cork(() => {
        this.#writeUnsentHead();
        if (last !== undefined) isTaken = this.#res.write(last);
        if (isTaken) this.#res.end();
      });
      if (isTaken) this.#finish();
      else this.#block();
    }
  }

  #endLast(writeEnd: () => void): void {
    this.#res.cork(() => {
      this.#writeUnsentHead();
      writeEnd();
    });
    this.#lingerTimer = closeAfterLinger(this.#res);
    this.#finish();
  }

  #block(): void {
    this.#isBlocked = true;
    this.#context.waiting.add(this);
    this.#stallTimer ??= setTimeout(() => this.close(), this.#context.limits.writeStallMaxMs);
  }

  #unblock(): void {
    this.#isBlocked = false;
    this.#context.waiting.delete(this);
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
  }

  #finish(): void {
    if (this.#state === 'finished') return;
    this.#state = 'finished';
    if (this.#isBlocked) this.#unblock();
    if (this.#queue.length > 0) this.#queue = [];
    this.#drained?.resolve();
    this.#context.blockedAnswers.delete(this);
    this.#owner.onAnswerFinished();
  }

  #writeUnsentHead(): void {
    if (this.#unsentHead === undefined) return;
    writeAnswerHead(this.#res, this.#unsentHead, this.#closes);
    this.#unsentHead = undefined;
  }
}
