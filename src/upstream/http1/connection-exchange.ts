import type { HttpRequest } from './encode-request.ts';
import type { HttpExchange, HttpHandler } from './http-client.ts';
import type { HttpFailure } from './http-failure.ts';

interface ExchangeParts {
  readonly request: HttpRequest;
  readonly head: string;
  readonly handler: HttpHandler;
}

/** What an exchange needs from the connection that carries it. */
interface Carrier {
  readonly isSent: boolean;
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** One request until it is over, on whichever connection it runs. */
export class ConnectionExchange implements HttpExchange {
  readonly method: HttpRequest['method'];
  readonly handler: HttpHandler;
  /** The request's head as it is sent. */
  head: string;
  body: HttpRequest['body'];
  connection: Carrier | undefined;
  isPaused = false;
  #isOver = false;
  #heldFailure: HttpFailure | undefined;

  constructor(parts: ExchangeParts) {
    this.method = parts.request.method;
    this.head = parts.head;
    this.body = parts.request.body;
    this.handler = parts.handler;
  }

  /** The answer has begun, so the request is never sent again. */
  forgetRequest(): void {
    this.head = '';
    this.body = undefined;
  }

  get isSent(): boolean {
    return this.connection?.isSent === true;
  }

  pause(): void {
    if (this.#isOver || this.isPaused) return;
    this.isPaused = true;
    this.connection?.pause();
  }

  resume(): void {
    if (this.#isOver || !this.isPaused) return;
    this.isPaused = false;
    this.connection?.resume();
    if (this.#heldFailure !== undefined) this.fail(this.#heldFailure);
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.connection?.destroy();
  }

  end(): void {
    this.#isOver = true;
    this.handler.onEnd();
  }

  fail(failure: HttpFailure): void {
    if (this.#isOver) return;
    if (this.isPaused) {
      this.#heldFailure = failure;
      return;
    }
    this.#isOver = true;
    this.handler.onFail(failure);
  }
}
