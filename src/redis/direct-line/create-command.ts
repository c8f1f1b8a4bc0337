/**
 * FAST TWIN of `ioredis`.
 * Held equal by `test/redis/gathered-command.test.ts`.
 * Gain: 11.6 to 6.1 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import type { Writable } from 'node:stream';
import { Command } from 'ioredis';
import { type CommandArg, CommandWriter } from './command-writer.ts';

type Args = readonly CommandArg[];

const writer = new CommandWriter();

const TEXT = { replyEncoding: 'utf8' } as const;
const BYTES = { replyEncoding: null } as const;

/**
 * A command that goes to the socket together with all others of this turn of the event loop: a
 * write costs more than the command itself, on both sides. Unlike the commands of a pipeline, it
 * has its own reply, timeout and redirections.
 */
class CorkedCommand extends Command {
  readonly #encoded: Buffer;

  constructor(name: string, args: Args, replies: typeof TEXT | typeof BYTES) {
    super(name, argsForClient(name, args), replies);
    writer.write(name, args);
    this.#encoded = writer.take();
  }

  override toWritable(socket: object): Buffer {
    holdUntilTurnEnds(socket as Writable);
    return this.#encoded;
  }
}

export function createCommand(name: string, args: Args): Command {
  return new CorkedCommand(name, args, TEXT);
}

/** All texts of its reply are buffers. */
export function createBytesCommand(name: string, args: Args): Command {
  return new CorkedCommand(name, args, BYTES);
}

/**
 * The client goes through all arguments several times. For a call of a script it needs only the
 * first key, to find the node.
 */
function argsForClient(name: string, args: Args): (string | Buffer)[] {
  const [, keyCount, firstKey] = args;
  const isScript = name === 'evalsha' || name === 'eval';
  const needed = isScript && keyCount !== 0 && firstKey !== undefined ? ['', '1', firstKey] : args;
  return needed.map((arg) => (typeof arg === 'number' ? String(arg) : arg));
}

function holdUntilTurnEnds(socket: Writable): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(release, socket);
}

function release(socket: Writable): void {
  socket.uncork();
}
