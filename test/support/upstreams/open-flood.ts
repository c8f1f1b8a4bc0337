import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { HAIKU } from '../clients/ask-model.ts';
import { waitUntil } from '../wait-until.ts';
import { encodeFloodOrder, type FloodFormat, type FloodOrder, pieceOf } from './flood-events.ts';

export interface FloodClient {
  readonly socket: Socket;
  /** Starts reading, reads to the end and resolves with all pieces of text. */
  readAll(): Promise<readonly string[]>;
}

interface FloodClientOptions {
  /** Where the gateway listens: a port of 127.0.0.1 or the path of a socket. */
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string };
  readonly key: string;
  readonly format: FloodFormat;
  readonly order: FloodOrder;
}

const PATHS = { native: '/v1/messages', chat: '/v1/chat/completions' };
const LAST_CHUNK = '\r\n0\r\n\r\n';
const LAST_WORDS = { native: '{"type":"message_stop"}\n\n', chat: 'data: [DONE]\n\n' };

/** Asks for a flood and reads nothing of the answer. */
export async function openFlood(options: FloodClientOptions): Promise<FloodClient> {
  const { at, key, format, order } = options;
  const body = JSON.stringify({
    ...{ model: HAIKU, max_tokens: 8_000, stream: true },
    messages: [{ role: 'user', content: encodeFloodOrder(order) }],
  });
  const socket = connect({ ...at, allowHalfOpen: false });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST ${PATHS[format]} HTTP/1.1\r\nhost: flood\r\nauthorization: Bearer ${key}\r\n` +
      `llm-version: 2023-06-01\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return {
    socket,
    async readAll() {
      const received: Buffer[] = [];
      let end = '';
      socket.on('data', (bytes) => {
        received.push(bytes);
        end = (end + bytes.subarray(-LAST_CHUNK.length).toString('latin1')).slice(
          -LAST_CHUNK.length,
        );
      });
      await waitUntil(() => end === LAST_CHUNK || socket.destroyed, 'the stream ends');
      socket.destroy();
      const events = joinChunks(Buffer.concat(received).toString('latin1'));
      if (!events.endsWith(LAST_WORDS[format])) throw new Error(`cut off: ${events.slice(-500)}`);
      return [...events.matchAll(/"(?:text|content)":"(\d+\.x*)"/g)].map(([, piece = '']) => piece);
    },
  };
}

export function piecesOf(count: number, textBytes: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => pieceOf(number, textBytes));
}

/** The body of an answer with chunked encoding. */
function joinChunks(answer: string): string {
  const bodyStart = answer.indexOf('\r\n\r\n') + 4;
  const pieces: string[] = [];
  for (let at = bodyStart; at < answer.length; ) {
    const lineEnd = answer.indexOf('\r\n', at);
    const bytes = Number.parseInt(answer.slice(at, lineEnd), 16);
    if (!(bytes > 0)) break;
    pieces.push(answer.slice(lineEnd + 2, lineEnd + 2 + bytes));
    at = lineEnd + 2 + bytes + 2;
  }
  return pieces.join('');
}
