import { createConnection } from 'node:net';

interface Reply {
  /** As redis-cli writes it: one line for each element, and none of what is null. */
  readonly text: string;
  /** Where the next one begins. */
  readonly end: number;
}

/**
 * Asks a server over its socket, and returns what `redis-cli` would write. A process for each
 * question would take 30 ms of CPU time, and some tests ask hundreds.
 */
export function askRedis(socketPath: string, command: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    let received = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`no reply to ${command.join(' ')}`)));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      const reply = readReply(received, 0);
      if (reply === undefined) return;
      resolve(reply.text.trim());
      socket.destroy();
    });
    const args = command.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
    socket.write(`*${command.length}\r\n${args.join('')}`);
  });
}

/** Undefined if it has not arrived as a whole. */
function readReply(bytes: Buffer, start: number): Reply | undefined {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd < 0) return undefined;
  const line = bytes.toString('utf8', start + 1, lineEnd);
  const next = lineEnd + 2;
  const kind = String.fromCharCode(bytes[start] ?? 0);
  if (kind === '$') return readBulk(bytes, next, Number(line));
  if (kind === '*') return readArray(bytes, next, Number(line));
  return { text: line, end: next };
}

function readBulk(bytes: Buffer, start: number, length: number): Reply | undefined {
  if (length < 0) return { text: '', end: start };
  const end = start + length + 2;
  if (bytes.length < end) return undefined;
  return { text: bytes.toString('utf8', start, start + length), end };
}

function readArray(bytes: Buffer, start: number, count: number): Reply | undefined {
  const texts: string[] = [];
  let end = start;
  for (let i = 0; i < count; i++) {
    const reply = readReply(bytes, end);
    if (reply === undefined) return undefined;
    texts.push(reply.text);
    end = reply.end;
  }
  return { text: texts.join('\n'), end };
}
