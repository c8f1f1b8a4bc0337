import type { HttpRequest } from './encode-request.ts';
import type { HttpFailure } from './http-failure.ts';

/** Sends requests to one origin, over connections that are kept for the next requests. */
export interface HttpClient {
  /**
   * Sends one request. No function of the handler runs before this has returned. Throws if the
   * request cannot be written as HTTP, which is a mistake of the caller.
   */
  send(request: HttpRequest, handler: HttpHandler): HttpExchange;
  /** Takes no more requests. Those that run continue, and their connections close after them. */
  close(): void;
}

/**
 * Gets the events of one request: `onHead`, then `onData` any number of times, and last either
 * `onEnd` or `onFail`.
 */
export interface HttpHandler {
  onHead(status: number, headers: HttpHeaders): void;
  /** The bytes do not change until `onReadEnd` has returned. */
  onData(chunk: Uint8Array): void;
  /** Everything that one read brought has been passed on, unless the answer ended with it. */
  onReadEnd?(): void;
  onEnd(): void;
  onFail(failure: HttpFailure): void;
}

export interface HttpHeaders {
  /** The first value under this lower-case name. Values are ISO-8859-1, as they arrived. */
  get(name: string): string | undefined;
}

export interface HttpExchange {
  /** Whether the whole request has left this process, or is answered already. */
  readonly isSent: boolean;
  /**
   * From now on the handler gets no events, and the server has to wait. A failure is held until
   * `resume`.
   */
  pause(): void;
  /** Passes on what was held back, some of it perhaps before this returns. */
  resume(): void;
  /** Ends the connection at once. The handler gets no more events. */
  abort(): void;
}
