/**
 * FAST TWIN of `src/redis/connect-redis.ts`.
 * Held equal by `test/redis/direct-line.test.ts`.
 * Gain: 6.7 to 1.7 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import type { Socket } from 'node:net';
import { LinkedList, type ListLinks } from '../../lib/collections/linked-list.ts';
import { createDeadlineList, type Deadline } from '../../timers/deadline-list.ts';
import { type CommandArg, CommandWriter } from './command-writer.ts';
import { ErrorReply, type Reply, ReplyReader } from './reply-reader.ts';

/** A server that is silent for this long while replies are due is given up. */
const SILENCE_MAX_MS = 2_000;
/** Enough for all requests of a busy worker, and for as many settlements. */
const WAITING_MAX = 16_384;

/** One command in flight. */
interface Call extends ListLinks<Call> {
  readonly name: string;
  readonly args: readonly CommandArg[];
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly sentMs: number;
  deadline: Deadline<Call> | undefined;
  isOver: boolean;
}

export interface DirectLineOptions {
  readonly socket: Socket;
  readonly commandTimeoutMs: number;
  /** Asks in another way if the server answers with an error here. */
  readonly askElsewhere: (name: string, args: Call['args']) => Promise<unknown>;
  readonly onCommand: (tookMs: number, error?: unknown) => void;
  /** Called once, after every caller that waited has been rejected. */
  readonly onLost: () => void;
}

/**
 * Sends commands over a socket that is connected and logged in, all commands of one turn of the
 * event loop in one write. Replies come in the order of the commands. It does nothing else.
 *
 *   send ──▶ written at the end of the turn ──▶ reply ──▶ resolved
 *              │                                 └ error ──▶ asked elsewhere
 *              └ too late: rejected, its reply is dropped
 *   lost: all waiting calls are rejected
 */
export class DirectLine {
  readonly #options: DirectLineOptions;
  readonly #reader = new ReplyReader();
  readonly #deadlines;
  readonly #writer = new CommandWriter();
  readonly #waiting = new LinkedList<Call>();
  readonly #turnEnds: (() => void)[] = [];
  #isWriteDue = false;
  #heardMs = performance.now();
  #isLost = false;

  constructor(options: DirectLineOptions) {
    this.#options = options;
    this.#deadlines = createDeadlineList<Call>({
      afterMs: options.commandTimeoutMs,
      nowMs: () => performance.now(),
      onDue: (call) => this.#expire(call),
    });
    const { socket } = options;
    socket.on('error', () => this.#lose());
    socket.on('close', () => this.#lose());
  }

  get isUsable(): boolean {
    return !this.#isLost && this.#waiting.size < WAITING_MAX;
  }

  send(name: string, args: Call['args']): Promise<unknown> {
    this.#writeLater();
    this.#writer.write(name, args);
    return new Promise((resolve, reject) => {
      const sentMs = performance.now();
      if (this.#waiting.size === 0) this.#heardMs = sentMs;
      const call: Call = {
        name,
        args,
        resolve,
        reject,
        sentMs,
        deadline: undefined,
        isOver: false,
        next: undefined,
        previous: undefined,
        isListed: false,
      };
      call.deadline = this.#deadlines.add(call);
      this.#waiting.append(call);
    });
  }

  /**
   * Calls back before the commands of this turn of the event loop are written. Commands sent by the
   * callback go with them.
   */
  atTurnEnd(callback: () => void): void {
    this.#writeLater();
    this.#turnEnds.push(callback);
  }

  /** Takes the bytes that the socket received. */
  receive(bytes: Buffer): void {
    this.#heardMs = performance.now();
    try {
      this.#reader.read(bytes, this.#take);
    } catch {
      this.close();
    }
  }

  close(): void {
    this.#options.socket.destroy();
    this.#lose();
  }

  #writeLater(): void {
    if (this.#isWriteDue) return;
    this.#isWriteDue = true;
    setImmediate(this.#write);
  }

  readonly #write = (): void => {
    for (const callback of this.#turnEnds) callback();
    this.#turnEnds.length = 0;
    this.#isWriteDue = false;
    if (this.#writer.isEmpty) return;
    const unsent = this.#writer.take();
    if (!this.#isLost) this.#options.socket.write(unsent);
  };

  readonly #take = (reply: Reply): void => {
    const call = this.#shift();
    if (call === undefined) throw new Error('a reply that nobody waits for');
    if (call.isOver) return;
    this.#end(call);
    if (reply instanceof ErrorReply) {
      this.#options.askElsewhere(call.name, call.args).then(call.resolve, call.reject);
      return;
    }
    this.#options.onCommand(this.#heardMs - call.sentMs);
    call.resolve(reply);
  };

  #expire(call: Call): void {
    this.#fail(call, new Error('Command timed out'));
    if (performance.now() - this.#heardMs >= SILENCE_MAX_MS) this.close();
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    for (let call = this.#shift(); call !== undefined; call = this.#shift()) {
      if (!call.isOver) this.#fail(call, new Error('Connection is closed.'));
    }
    this.#options.onLost();
  }

  #fail(call: Call, error: Error): void {
    this.#end(call);
    this.#options.onCommand(performance.now() - call.sentMs, error);
    call.reject(error);
  }

  #end(call: Call): void {
    call.isOver = true;
    this.#deadlines.delete(call.deadline);
  }

  #shift(): Call | undefined {
    const call = this.#waiting.first;
    if (call !== undefined) this.#waiting.delete(call);
    return call;
  }
}
