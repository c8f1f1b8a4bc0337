import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { countBodyBytes } from './encode-request.ts';

/** Up to this size, copying is cheaper than a system call for several pieces. */
const COPIED_BODY_BYTES_MAX = 16 * 1024;
/** What the kernel does not take of it at once waits without a copy. */
const PLAIN_SLICE_BYTES = 256 * 1024;
/** TLS encrypts, and keeps, all that it is given at once, so it is given less. */
const TLS_SLICE_BYTES = 64 * 1024;

const NO_PIECES: readonly Uint8Array[] = [];

/** Sends one request after the other over one socket, never more than the socket takes. */
export class RequestWriter {
  readonly #socket: Socket;
  readonly #sliceBytes: number;
  /** What is left of the request, in order. */
  #unsent: readonly Uint8Array[] = NO_PIECES;
  #isStopped = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#sliceBytes = socket instanceof TLSSocket ? TLS_SLICE_BYTES : PLAIN_SLICE_BYTES;
  }

  send(head: string, body: readonly Uint8Array[] = NO_PIECES): void {
    const bodyBytes = countBodyBytes(body);
    if (bodyBytes === 0) {
      this.#socket.write(head, 'latin1');
    } else if (bodyBytes <= COPIED_BODY_BYTES_MAX) {
      this.#socket.write(joinRequest(head, body, bodyBytes));
    } else {
      this.#unsent = [Buffer.from(head, 'latin1'), ...body];
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
      if (this.#sendSlice()) continue;
      this.#socket.once('drain', () => this.#sendOn());
      return;
    }
  }

  /** Sends pieces in one system call. Returns whether the socket takes more. */
  #sendSlice(): boolean {
    let room = this.#sliceBytes;
    let takesMore = true;
    let sent = 0;
    this.#socket.cork();
    for (const piece of this.#unsent) {
      if (piece.length > room) break;
      takesMore = this.#socket.write(piece);
      room -= piece.length;
      sent += 1;
    }
    const cut = this.#unsent[sent];
    if (cut !== undefined && room > 0) takesMore = this.#socket.write(cut.subarray(0, room));
    this.#socket.uncork();
    this.#unsent =
      cut === undefined ? NO_PIECES : [cut.subarray(room), ...this.#unsent.slice(sent + 1)];
    return takesMore;
  }
}

function joinRequest(head: string, body: readonly Uint8Array[], bodyBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  let at = bytes.write(head, 'latin1');
  for (const piece of body) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
