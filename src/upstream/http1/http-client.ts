import type { HttpRequest } from './encode-request.ts';
import type { HttpFailure } from './http-failure.ts';

/** Requests to one origin, over connections that are kept for the next ones. */
export interface HttpClient {
  /**
   * Sends one request. No function of the handler runs before this has returned. Throws when the request
   * cannot be written as HTTP, which is a mistake of the caller.
   */
  send(request: HttpRequest, handler: HttpHandler): HttpExchange;
  /** How many exchanges have neither ended nor failed nor been aborted. */
  readonly inFlight: number;
  /** Takes no more requests. What runs goes on, and its connection closes behind it. */
  close(): void;
}

/** What becomes of one request: `onHead`, then `onData` any number of times, and last one of `onEnd` and `onFail`. */
export interface HttpHandler {
  onHead(status: number, headers: HttpHeaders): void;
  /** The bytes stay as they are until `onReadEnd` has returned. */
  onData(chunk: Uint8Array): void;
  /** All is told that one read brought, unless that was the end. */
  onReadEnd?(): void;
  onEnd(): void;
  onFail(failure: HttpFailure): void;
}

export interface HttpHeaders {
  /** The first value under this name, which is in lower case. Values are ISO-8859-1, as they arrived. */
  get(name: string): string | undefined;
}

export interface HttpExchange {
  /** The whole request has left this process, or is answered already. */
  readonly isSent: boolean;
  /** From now on nothing of the answer is told, and the server is made to wait; a failure is told all the same. */
  pause(): void;
  /** What was held back may be told before this returns. */
  resume(): void;
  /** Ends the connection at once; nothing more is told. */
  abort(): void;
}
