import type { Socket } from 'node:net';

/** Up to this size, copying is cheaper than a second system call. */
const COPIED_BODY_BYTES_MAX = 16 * 1024;
/** TLS encrypts, and keeps, all that it is given at once. So a body goes out in slices. */
const SLICE_BYTES = 64 * 1024;

const NO_BYTES = new Uint8Array(0);

/** Sends one request after the other over one socket, never more than the socket takes. */
export class RequestWriter {
  readonly #socket: Socket;
  #unsent: Uint8Array = NO_BYTES;
  #isStopped = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  send(head: string, body: Uint8Array = NO_BYTES): void {
    if (body.length === 0) {
      this.#socket.write(head, 'latin1');
    } else if (body.length <= COPIED_BODY_BYTES_MAX) {
      const bytes = Buffer.allocUnsafe(head.length + body.length);
      bytes.write(head, 'latin1');
      bytes.set(body, head.length);
      this.#socket.write(bytes);
    } else {
      this.#socket.write(head, 'latin1');
      this.#unsent = body;
      this.#sendOn();
    }
  }

  /** Whether the whole request has left this process. */
  isDone(): boolean {
    return this.#unsent.length === 0 && this.#socket.writableLength === 0;
  }

  /** Sends no more of an unfinished body. The socket cannot carry another request then. */
  stop(): void {
    this.#isStopped = this.#unsent.length > 0;
  }

  #sendOn(): void {
    while (this.#unsent.length > 0 && !this.#isStopped) {
      const slice = this.#unsent.subarray(0, SLICE_BYTES);
      this.#unsent = this.#unsent.subarray(SLICE_BYTES);
      if (this.#socket.write(slice)) continue;
      this.#socket.once('drain', () => this.#sendOn());
      return;
    }
    // An empty rest of a body would keep the whole body in memory.
    if (this.#unsent.length === 0) this.#unsent = NO_BYTES;
  }
}
