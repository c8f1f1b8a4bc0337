import type { Writable } from 'node:stream';
import { Command } from 'ioredis';

type Args = readonly (string | Buffer)[];

const UTF8 = { replyEncoding: 'utf8' } as const;

/**
 * A command that goes to the socket together with all others of this turn of the event loop: a write costs more than
 * the command does, on both sides. Unlike a pipeline it is on its own otherwise, with its own reply, timeout and
 * redirections.
 */
class GatheredCommand extends Command {
  readonly #encoded: string | Buffer;

  constructor(name: string, args: Args) {
    super(name, argsForClient(name, args), UTF8);
    this.#encoded = encodeCommand(name, args);
  }

  override toWritable(socket: object): string | Buffer {
    holdUntilTurnEnds(socket as Writable);
    return this.#encoded;
  }
}

export function createCommand(name: string, args: Args): Command {
  return new GatheredCommand(name, args);
}

/** The client goes through all arguments several times, but of a script it needs the first key alone: for its node. */
function argsForClient(name: string, args: Args): (string | Buffer)[] {
  const [, keyCount, firstKey] = args;
  const isScript = name === 'evalsha' || name === 'eval';
  return isScript && keyCount !== '0' && firstKey !== undefined
    ? ['', '1', firstKey]
    : (args as (string | Buffer)[]);
}

function holdUntilTurnEnds(socket: Writable): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(release, socket);
}

function release(socket: Writable): void {
  socket.uncork();
}

/** In one piece, also where an argument is bytes: the client itself would make a piece for each of its parts. */
function encodeCommand(name: string, args: Args): string | Buffer {
  let encoded: Buffer | undefined;
  let text = `*${args.length + 1}\r\n$${name.length}\r\n${name}\r\n`;
  for (const arg of args) {
    if (typeof arg === 'string') {
      text += `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`;
      continue;
    }
    encoded = join(encoded, `${text}$${arg.length}\r\n`, arg);
    text = '\r\n';
  }
  return encoded === undefined ? text : join(encoded, text, NO_BYTES);
}

const NO_BYTES = Buffer.alloc(0);

function join(first: Buffer = NO_BYTES, text: string, last: Buffer): Buffer {
  const textBytes = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(first.length + textBytes + last.length);
  bytes.set(first);
  bytes.write(text, first.length);
  bytes.set(last, first.length + textBytes);
  return bytes;
}
