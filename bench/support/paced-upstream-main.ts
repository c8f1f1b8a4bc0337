import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The clock of the machine, which all of its processes share. */
const nowNanos = () => process.hrtime.bigint();

const USAGE = { input_tokens: 10, output_tokens: 1 };
const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'bench' };

const event = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

/** The text of each event is the time when it was sent. */
const sayNow = () =>
  event('content_block_delta', {
    index: 0,
    delta: { type: 'text_delta', text: `@${nowNanos()};` },
  });

function writeInTwo(res: ServerResponse, said: string): void {
  const middle = Math.floor(said.length / 2);
  res.write(said.slice(0, middle));
  res.write(said.slice(middle));
}

/** `paced COUNT INTERVAL` asks for COUNT events, one per interval, each in two writes. */
function pace(res: ServerResponse, count: number, intervalMs: number): void {
  const ending = { stop_reason: null, stop_sequence: null, usage: USAGE };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(event('message_start', { message: { ...MESSAGE, content: [], ...ending } }));
  res.write(event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }));
  let said = 0;
  const timer = setInterval(() => {
    writeInTwo(res, sayNow());
    said += 1;
    if (said < count) return;
    clearInterval(timer);
    res.write(event('content_block_stop', { index: 0 }));
    const delta = { stop_reason: 'end_turn', stop_sequence: null };
    res.end(event('message_delta', { delta, usage: USAGE }) + event('message_stop', {}));
  }, intervalMs);
  res.once('close', () => {
    clearInterval(timer);
    if (!res.writableFinished) process.send?.({ closedNanos: String(nowNanos()) });
  });
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [, count, intervalMs] = /paced (\d+) (\d+)/.exec(await text(req)) ?? [];
  if (count !== undefined) {
    pace(res, Number(count), Number(intervalMs));
    return;
  }
  res.writeHead(200, { 'content-type': 'application/json' });
  const content = [{ type: 'text', text: 'Hi' }];
  const ending = { stop_reason: 'end_turn', stop_sequence: null, usage: USAGE };
  writeInTwo(res, JSON.stringify({ ...MESSAGE, content, ...ending }));
  res.end();
}

const server = createServer((req, res) => {
  answer(req, res).catch(() => res.destroy());
});
// Without this option the two writes of an event would be delayed here instead of where the bench
// looks.
server.on('connection', (socket) => socket.setNoDelay(true));
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.once('disconnect', () => process.exit());
