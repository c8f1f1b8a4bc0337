import type { Socket } from 'node:net';
import type { Clock } from '../../lib/time/clock.ts';
import type { ConnectionExchange } from './connection-exchange.ts';
import { type AnswerStep, HttpAnswerReader } from './http-answer-reader.ts';
import { createHttpFailure, type HttpFailureKind } from './http-failure.ts';
import type { OpenSocket, SocketListener } from './open-socket.ts';
import { RequestWriter } from './request-writer.ts';

/** What a connection needs from the client that owns it. */
export interface ConnectionOwner {
  readonly openSocket: OpenSocket;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  /**
   * The connection can carry another exchange within this time. The owner destroys it if it is not
   * wanted.
   */
  onIdle(connection: HttpConnection, keepMs: number): void;
  onGone(connection: HttpConnection): void;
  /** The exchange lost a kept connection as it began, before a byte of the answer came. */
  repeat(exchange: ConnectionExchange): void;
}

type ConnectFailure = Extract<HttpFailureKind, 'connect_failed' | 'connect_timeout' | 'tls_failed'>;

/**
 *   connecting ──▶ running ◀──▶ idle
 *        └────────────┴──────────┴──▶ gone
 */
type State = 'connecting' | 'running' | 'idle' | 'gone';

interface Loss {
  readonly reason: string;
  /** The server ended the connection in order, so an answer without a length is complete. */
  readonly isClean: boolean;
}

/**
 * A server that had closed a kept connection already says so within this time of the request. One
 * that says it later may have worked on the request, and would be asked for the same work again.
 */
const REPEAT_MAX_MS = 1_000;

const NO_BYTES: Buffer = Buffer.alloc(0);

/** One socket, which carries one exchange at a time. */
export class HttpConnection implements SocketListener {
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #writer: RequestWriter;
  readonly #reader = new HttpAnswerReader();
  #connectTimer: NodeJS.Timeout | undefined;
  #state: State = 'connecting';
  /** What a loss means as long as no request could be sent. */
  #connectFailure: ConnectFailure | undefined = 'connect_failed';
  /**
   * Stays set when the connection is gone while the exchange is paused: there is more to pass on.
   */
  #exchange: ConnectionExchange | undefined;
  /** When the request began for which this connection was reused; undefined for its first one. */
  #reusedMs: number | undefined;
  #hasAnswerBegun = false;
  /**
   * Bytes that were read but not passed on because of a pause: at most the rest of one read, since
   * a paused socket reads no further.
   */
  #held = NO_BYTES;
  #isEmitting = false;
  #loss: Loss | undefined;

  /** Begins to connect, for this exchange. */
  constructor(owner: ConnectionOwner, exchange: ConnectionExchange) {
    this.#owner = owner;
    this.#exchange = exchange;
    this.#socket = owner.openSocket(this);
    this.#writer = new RequestWriter(this.#socket);
    this.#socket.on('end', () => this.#lose('the server closed it', true));
    this.#socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#lose(error.code ?? error.message, false),
    );
    this.#socket.on('close', () => this.#lose('it was closed', false));
    this.#connectTimer = setTimeout(() => {
      this.#connectFailure = 'connect_timeout';
      this.#lose(`not ready within ${owner.connectTimeoutMs} ms`, false);
    }, owner.connectTimeoutMs);
  }

  onConnect(): void {
    this.#connectFailure = 'tls_failed';
  }

  onReady(): void {
    clearTimeout(this.#connectTimer);
    this.#connectTimer = undefined;
    this.#connectFailure = undefined;
    if (this.#exchange !== undefined) this.#begin(this.#exchange);
  }

  /** Sends the next request over this idle connection. */
  start(exchange: ConnectionExchange): void {
    this.#exchange = exchange;
    exchange.connection = this;
    this.#reusedMs = this.#owner.clock.nowMs();
    this.#begin(exchange);
  }

  /** Whether the whole request that it carries has left this process. */
  get isSent(): boolean {
    return this.#state === 'running' && this.#writer.isDone();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    // A loop that is running continues by itself.
    if (!this.#isEmitting) {
      this.#emit(this.#held);
      this.#conclude();
    }
    if (!this.#exchange?.isPaused) this.#socket.resume();
  }

  destroy(): void {
    this.#exchange = undefined;
    this.#leave();
  }

  #begin({ method, head, body }: ConnectionExchange): void {
    this.#state = 'running';
    this.#hasAnswerBegun = false;
    this.#reader.restart(method);
    this.#writer.send(head, body);
  }

  onBytes(bytes: Buffer): void {
    if (this.#state === 'gone') return;
    if (this.#state === 'idle') {
      // Nobody asked for these bytes. They would be read as the answer to the next request.
      this.#leave();
      return;
    }
    if (!this.#hasAnswerBegun) this.#exchange?.forgetRequest();
    this.#hasAnswerBegun = true;
    this.#emit(this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]));
  }

  /** Passes on what the bytes say, until the exchange is over or paused. */
  #emit(bytes: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#held = NO_BYTES;
    this.#isEmitting = true;
    let at = 0;
    while (this.#exchange === exchange && !exchange.isPaused) {
      const step = this.#reader.read(bytes, at);
      at = this.#reader.position;
      if (step === 'more') break;
      this.#emitStep(step, exchange, at < bytes.length);
    }
    this.#isEmitting = false;
    this.#reader.forgetData();
    if (this.#exchange !== exchange) return;
    // A copy, because the next read uses the memory again.
    if (at < bytes.length) this.#held = Buffer.from(bytes.subarray(at));
    exchange.handler.onReadEnd?.();
  }

  #emitStep(
    step: Exclude<AnswerStep, 'more'>,
    exchange: ConnectionExchange,
    areBytesLeft: boolean,
  ): void {
    switch (step) {
      case 'head':
        this.#emitHead(exchange);
        return;
      case 'data':
        exchange.handler.onData(this.#reader.data);
        return;
      case 'end':
        this.#release(areBytesLeft);
        exchange.end();
        return;
      default:
        this.destroy();
        exchange.fail(createHttpFailure(step, 'the answer breaks the rules of HTTP/1.1'));
    }
  }

  #emitHead({ handler }: ConnectionExchange): void {
    const { status, headers } = this.#reader.head;
    // A server that refuses does not want the rest, and may close the connection of a client that
    // keeps sending.
    if (status >= 400) this.#writer.stop();
    handler.onHead(status, headers);
    this.#reader.forgetHead();
  }

  /**
   * The answer is complete. If more bytes follow, they belong to no request, and the connection is
   * not used again.
   */
  #release(areBytesLeft: boolean): void {
    this.#exchange = undefined;
    const isUsable = this.#state === 'running' && !areBytesLeft && this.#writer.isDone();
    const keepMs = isUsable ? this.#reader.keepMs() : 0;
    if (keepMs === 0) {
      this.#leave();
      return;
    }
    this.#state = 'idle';
    this.#owner.onIdle(this, keepMs);
  }

  #lose(reason: string, isClean: boolean): void {
    if (this.#state === 'gone') return;
    this.#loss = { reason, isClean };
    this.#leave();
    this.#conclude();
  }

  /** Emits what the loss of the connection means, once all that came before it was passed on. */
  #conclude(): void {
    const exchange = this.#exchange;
    const loss = this.#loss;
    if (loss === undefined || exchange === undefined || exchange.isPaused) return;
    this.#exchange = undefined;
    const fail = (kind: HttpFailureKind) => exchange.fail(createHttpFailure(kind, loss.reason));
    if (this.#connectFailure !== undefined) fail(this.#connectFailure);
    else if (loss.isClean && this.#reader.isCompleteAtClose()) exchange.end();
    else if (this.#hasAnswerBegun) fail('truncated');
    // The repetition gets a fresh connection, so there is only one.
    else if (this.#isJustReused()) this.#owner.repeat(exchange);
    else fail('closed_early');
  }

  #isJustReused(): boolean {
    if (this.#reusedMs === undefined) return false;
    const ageMs = this.#owner.clock.nowMs() - this.#reusedMs;
    // A clock that is set back says nothing about the age.
    return ageMs >= 0 && ageMs < REPEAT_MAX_MS;
  }

  #leave(): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    clearTimeout(this.#connectTimer);
    this.#socket.destroy();
    this.#owner.onGone(this);
  }
}
