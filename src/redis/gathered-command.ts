import type { Writable } from 'node:stream';
import { Command } from 'ioredis';

const UTF8 = { replyEncoding: 'utf8' } as const;

/**
 * A command that goes to the socket together with all others of this turn of the event loop: a write costs more than
 * the command does, on both sides. Unlike a pipeline it is on its own otherwise, with its own reply, timeout and
 * redirections.
 */
class GatheredCommand extends Command {
  constructor(name: string, args: readonly (string | Buffer)[]) {
    super(name, args as (string | Buffer)[], UTF8);
  }

  override toWritable(socket: object): string | Buffer {
    holdUntilTurnEnds(socket as Writable);
    return encodeCommand(this.name, this.args as (string | Buffer)[]);
  }
}

export function createCommand(name: string, args: readonly (string | Buffer)[]): Command {
  return new GatheredCommand(name, args);
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
export function encodeCommand(name: string, args: readonly (string | Buffer)[]): string | Buffer {
  let text = `*${args.length + 1}\r\n$${name.length}\r\n${name}\r\n`;
  let head: Buffer[] | undefined;
  for (const arg of args) {
    if (typeof arg === 'string') {
      text += `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`;
      continue;
    }
    head ??= [];
    head.push(Buffer.from(`${text}$${arg.length}\r\n`), arg);
    text = '\r\n';
  }
  return head === undefined ? text : Buffer.concat([...head, Buffer.from(text)]);
}
