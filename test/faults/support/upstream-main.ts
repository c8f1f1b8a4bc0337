/**
 * An upstream of the native kind that never fails: faults are those of the gateway's other parts.
 * Of ten answers it streams seven when asked to, in 0.2 to 3 seconds. It has a process of its own,
 * and listens at the host that it is given.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { streamParts, wholeBody } from '../../support/upstreams/upstream-answers.ts';
import { LONG_TOKENS } from './ask.ts';

const STREAM_LEAST_MS = 200;
const STREAM_MAX_MS = 3_000;
const LONG_MS = 20_000;
const PAUSE_MS = 100;
const INPUT = 12;
/** Of a whole answer, and of one event. */
const TOKENS = 3;

async function stream(response: ServerResponse, isLong: boolean): Promise<void> {
  const { begin, say, end } = streamParts('native');
  const someMs = STREAM_LEAST_MS + Math.random() * (STREAM_MAX_MS - STREAM_LEAST_MS);
  const durationMs = isLong ? LONG_MS : someMs;
  const words = Math.ceil(durationMs / PAUSE_MS);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begin);
  for (let word = 0; word < words && !response.destroyed; word += 1) {
    response.write(say(`word ${word} `));
    await sleep(PAUSE_MS);
  }
  response.end(end({ input: INPUT, output: TOKENS * words }));
}

const server = createServer((request, response) => {
  response.on('error', () => {});
  const answer = async () => {
    const body = await text(request);
    if (/"stream":true/.test(body)) {
      await stream(response, body.includes(`"max_tokens":${LONG_TOKENS}`));
      return;
    }
    const whole = wholeBody('native', 'A few words.', { input: INPUT, output: TOKENS });
    response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
  };
  answer().catch(() => response.destroy());
});
server.listen(0, process.argv[2], () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.once('disconnect', () => process.exit());
