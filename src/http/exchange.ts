import type { Log } from '../lib/log.ts';
import { type StopSignal, StopSource } from '../lib/time/stop-signal.ts';
import type { Format } from '../protocol/format.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Deadline, DeadlineList } from '../timers/deadline-list.ts';
import type { AnswerHead, CompleteHead } from './answer-head.ts';
import type { BlockedAnswers } from './blocked-answers.ts';
import type { BodyBudget, BodyOwner } from './body-budget.ts';
import { BodyCollector } from './body-collector.ts';
import { CLIENT_GONE } from './client-gone.ts';
import type { HttpLimits } from './http-limits.ts';
import type { UwsResponse } from './load-uws.ts';
import { type RequestHead, readHeader } from './read-request-head.ts';
import { ResponseWriter } from './response-writer.ts';
import type { WriterOwner } from './writer-context.ts';

/** What all exchanges of one server share. */
export interface ExchangeContext {
  readonly limits: HttpLimits;
  readonly bodyBudget: BodyBudget;
  readonly waiting: Set<ResponseWriter>;
  readonly blockedAnswers: BlockedAnswers;
  /** Exchanges whose body is still arriving. */
  readonly bodyDeadlines: DeadlineList<Exchange>;
  readonly log: Log;
  /** Whether to ask the client to send its next request elsewhere. */
  readonly isLeaving: () => boolean;
  readonly onFinished: () => void;
  readonly onStreamStarted: () => void;
  readonly onStreamFinished: () => void;
}

interface ExchangeOptions {
  readonly requestId: string;
  readonly wantsBody: boolean;
  /** The deadlines of all exchanges with the same time limit as this one. */
  readonly deadlines: DeadlineList<Exchange>;
  readonly encodeRefusal: Format['encodeRefusal'];
  readonly statusOf: Format['statusOf'] | undefined;
}

const NO_TEXTS: readonly string[] = [];
const NO_HEADERS: readonly Headers[] = [];

type Headers = AnswerHead['headers'];

/**
 * One request and its answer as a safe object: a handler may use it at any time and in any order,
 * even after the connection is gone.
 *
 * An answer that is given while the body still arrives waits for the rest of the body: most
 * clients do not read an answer until they have sent the body.
 */
export class Exchange implements WriterOwner {
  readonly requestId: string;
  readonly head: RequestHead;
  readonly #res: UwsResponse;
  readonly #context: ExchangeContext;
  readonly #options: ExchangeOptions;
  readonly #writer: ResponseWriter;
  readonly #collector: BodyCollector;
  #bodyState: 'arriving' | 'complete' | 'late' = 'arriving';
  #body: Promise<Buffer> | undefined;
  #settleBody: { resolve: (body: Buffer) => void; reject: (reason: Error) => void } | undefined;
  #heldAnswer: { head: AnswerHead; body: Uint8Array } | undefined;
  #addedHeaders: readonly Headers[] = NO_HEADERS;
  readonly #stop = new StopSource();
  #deadline: Deadline<Exchange> | undefined;
  #bodyDeadline: Deadline<Exchange> | undefined;
  #isGone = false;
  #isStream = false;

  constructor(
    res: UwsResponse,
    head: RequestHead,
    context: ExchangeContext,
    options: ExchangeOptions,
  ) {
    this.requestId = options.requestId;
    this.head = head;
    this.#res = res;
    this.#context = context;
    this.#options = options;
    const { limits, bodyBudget } = context;
    this.#collector = new BodyCollector(head.contentLength ?? 0, limits.bodyBytesMax, bodyBudget);
    if (!options.wantsBody) this.#collector.discard();
    // From two bytes after the last chunk, uWS takes all bytes for a request, even a trailer.
    this.#writer = new ResponseWriter(res, context, this, head.isChunked);
    res.onAborted(() => {
      this.#isGone = true;
      this.#writer.markGone();
    });
    if (head.contentLength === undefined && !head.isChunked) this.#bodyState = 'complete';
    else res.onData((chunk, isLast) => this.#receive(chunk, isLast));
  }

  header(lowerCaseName: string): string | undefined {
    return readHeader(this.head.headers, lowerCaseName);
  }

  /** The peer of the connection: behind a proxy, the proxy. Empty once the client is gone. */
  get peerAddress(): string {
    if (this.#writer.isFinished) return '';
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  get isFinished(): boolean {
    return this.#writer.isFinished;
  }

  get hasStartedAnswer(): boolean {
    return this.#writer.hasStarted || this.#heldAnswer !== undefined;
  }

  /** Whether the handler has nothing left to do, even if the client has not read everything. */
  get hasEnded(): boolean {
    return this.#heldAnswer !== undefined || this.#writer.hasEnded;
  }

  /** Aborted if the exchange ends before its answer does. */
  get signal(): StopSignal {
    return this.#stop;
  }

  /** Stops all work for this exchange. The client gets the error that the handler then throws. */
  abort(reason: Refusal): void {
    this.#stop.abort(reason);
  }

  cutOff(): void {
    this.#writer.close();
  }

  /** Adds headers to the answer, whatever it is. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    this.#addedHeaders = [...this.#addedHeaders, headers];
  }

  /** Rejects with a `Refusal` over a limit, and with `CLIENT_GONE` if the body never ends. */
  body(owner?: BodyOwner): Promise<Buffer> {
    if (owner !== undefined) this.#collector.countAgainst(owner);
    this.#body ??= new Promise((resolve, reject) => {
      this.#settleBody = { resolve, reject };
    });
    if (this.#writer.isFinished) this.#refuseBody(CLIENT_GONE);
    else if (this.#bodyState === 'complete') this.#handOverBody();
    return this.#body;
  }

  answer(head: AnswerHead, body: string | Uint8Array): void {
    // Ignore a late answer: the client already has one or has left, so nothing went wrong.
    if (this.hasEnded) return;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    // The client may take long to read its answer.
    this.#collector.discard();
    if (this.#settleBody === undefined) this.#body = undefined;
    if (this.#bodyState === 'arriving') {
      this.#heldAnswer = { head, body: bytes };
      return;
    }
    const closes = this.#context.isLeaving() || this.#bodyState === 'late';
    this.#writer.sendPlain(this.#complete(head), bytes, this.head.method === 'HEAD', closes);
  }

  answerJson(status: number, value: unknown): void {
    this.answer({ status, headers: { 'content-type': 'application/json' } }, JSON.stringify(value));
  }

  refuse(refusal: Refusal): void {
    const headers = { 'content-type': 'application/json', ...refusal.headers };
    const { statusOf, encodeRefusal } = this.#options;
    const status = statusOf?.(refusal, (name) => this.header(name)) ?? refusal.status;
    this.answer({ status, headers }, encodeRefusal(refusal, this.requestId));
  }

  /** For streamed answers. Frees the request, so read the body first. */
  startStream(head: AnswerHead): ResponseWriter {
    if (!this.isFinished) {
      this.#collector.discard();
      this.#body = undefined;
      this.head.headers = NO_TEXTS;
      this.#writer.startStream(this.#complete(head), this.#context.isLeaving());
      this.#addedHeaders = NO_HEADERS;
      this.#isStream = true;
      this.#context.onStreamStarted();
    }
    return this.#writer;
  }

  /** The handler failed: answers with 500 if that is still possible, else cuts the connection. */
  fail(error: unknown): void {
    if (error === CLIENT_GONE) return;
    if (error instanceof Refusal && !this.hasStartedAnswer) {
      this.refuse(error);
      return;
    }
    const { method, path } = this.head;
    const noted = { requestId: this.requestId, method, path, err: error };
    this.#context.log.error(noted, 'handler failed');
    if (this.hasStartedAnswer) this.#writer.close();
    else this.refuse(new Refusal('fault', 'Internal server error'));
  }

  /** Call this when the handler has returned. From then on only time or the client end it. */
  armDeadlines(): void {
    if (this.#writer.isFinished) return;
    this.#deadline = this.#options.deadlines.add(this);
    if (this.#bodyState !== 'arriving') return;
    this.#bodyDeadline = this.#context.bodyDeadlines.add(this);
  }

  /** Keeps uWS from closing the connection while its body arrives slowly. */
  touch(): void {
    this.#writer.touch();
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#bodyState !== 'arriving') return;
    this.#collector.add(chunk);
    const { bodyBytesMax, bodyDiscardedBytesMax } = this.#context.limits;
    if (isLast) {
      this.#bodyState = 'complete';
      this.#stopWaitingForBody();
      if (this.#heldAnswer !== undefined) this.#sendHeldAnswer();
      else this.#handOverBody();
    } else if (this.#collector.receivedBytes > bodyBytesMax + bodyDiscardedBytesMax) {
      this.giveUpOnBody();
    }
  }

  #handOverBody(): void {
    if (this.#settleBody === undefined) return;
    const body = this.#collector.finish();
    if (body instanceof Refusal) this.#refuseBody(body);
    else this.#settleBody.resolve(body);
    this.#settleBody = undefined;
  }

  #refuseBody(reason: Error): void {
    // A handler may have stopped waiting for the body: its rejection must not end the process.
    this.#body?.catch(() => {});
    this.#settleBody?.reject(reason);
    this.#settleBody = undefined;
  }

  #sendHeldAnswer(): void {
    const held = this.#heldAnswer;
    this.#heldAnswer = undefined;
    if (held !== undefined) this.answer(held.head, held.body);
  }

  /** The body is too late or too large: answers without the rest of it and closes. */
  giveUpOnBody(): void {
    const collected = this.#collector.finish();
    this.#bodyState = 'late';
    this.#stopWaitingForBody();
    const seconds = this.#context.limits.bodyTimeMaxMs / 1_000;
    const tooSlow = `The request body did not arrive within ${seconds} seconds.`;
    if (this.#heldAnswer !== undefined) this.#sendHeldAnswer();
    else if (collected instanceof Refusal) this.#refuseUnread(collected);
    else this.#refuseUnread(new Refusal('body_too_slow', tooSlow));
  }

  /** A handler that waits for the body throws the refusal, so it knows what the client gets. */
  #refuseUnread(refusal: Refusal): void {
    if (this.#settleBody === undefined) this.refuse(refusal);
    else this.#refuseBody(refusal);
  }

  #stopWaitingForBody(): void {
    this.#context.bodyDeadlines.delete(this.#bodyDeadline);
    this.#bodyDeadline = undefined;
  }

  /** The time of the whole exchange is up. */
  expire(): void {
    const refusal = new Refusal('answer_too_slow', 'The request took too long.');
    this.#stop.abort(refusal);
    if (this.#bodyState === 'arriving') this.#bodyState = 'late';
    this.#stopWaitingForBody();
    if (this.#heldAnswer !== undefined) this.#sendHeldAnswer();
    else if (this.#writer.hasStarted) this.#writer.close();
    else this.#refuseUnread(refusal);
  }

  /** The writer calls this once: the answer is complete or the connection is gone. */
  onAnswerFinished(): void {
    this.#options.deadlines.delete(this.#deadline);
    if (this.#bodyState === 'arriving') this.#stopWaitingForBody();
    this.#collector.discard();
    if (this.#isGone) this.#stop.abort(CLIENT_GONE);
    if (this.#settleBody !== undefined) this.#refuseBody(CLIENT_GONE);
    if (this.#isStream) this.#context.onStreamFinished();
    this.#context.onFinished();
  }

  #complete({ status, headers }: AnswerHead): CompleteHead {
    return { status, headers, requestId: this.requestId, addedHeaders: this.#addedHeaders };
  }
}
