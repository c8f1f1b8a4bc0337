/**
 * `upstream-main.js PORT LATENCY_MS EVENTS GAP_MS`: gives the same answer to every native message
 * or chat completion.
 */
import { loadUws, type UwsResponse } from '../../../src/http/load-uws.ts';
import { streamParts, wholeBody } from '../../../test/support/upstreams/upstream-answers.ts';
import { createPace } from './create-pace.ts';

const USAGE = { input: 120, output: 80 };
const FILLER = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod. '.repeat(
  5,
);
const MICROS_PER_MS = 1_000;

const [port = 0, latencyMs = 0, events = 0, gapMs = 0] = process.argv.slice(2).map(Number);
const pace = createPace(gapMs);

/**
 * `@` occurs in no other text, so it counts events. The time when the event was written follows it.
 */
const stampOf = (micros: number) => `@${Math.round(micros)};`;
const nowMicros = () => (performance.timeOrigin + performance.now()) * MICROS_PER_MS;

function prepare(kind: 'native' | 'chat') {
  const { begin, say, end } = streamParts(kind);
  const burst = begin + say(stampOf(0)).repeat(events) + end(USAGE);
  return { begin, say, end: end(USAGE), burst, whole: wholeBody(kind, FILLER + stampOf(0), USAGE) };
}

type Answers = ReturnType<typeof prepare>;
const native = prepare('native');
const chat = prepare('chat');

function sendPaced(res: UwsResponse, answers: Answers, isGone: () => boolean): void {
  let said = 0;
  res.cork(() => res.writeHeader('content-type', 'text/event-stream').write(answers.begin));
  pace.every(() => {
    if (isGone()) return false;
    said += 1;
    const event = answers.say(stampOf(nowMicros()));
    if (said < events) res.cork(() => res.write(event));
    else res.cork(() => res.end(event + answers.end));
    return said < events;
  });
}

function send(res: UwsResponse, answers: Answers, isGone: () => boolean): void {
  if (isGone()) return;
  if (events > 0 && gapMs > 0) sendPaced(res, answers, isGone);
  else if (events > 0) {
    res.cork(() => {
      res.writeHeader('content-type', 'text/event-stream').write(answers.burst);
      res.end();
    });
  } else res.cork(() => res.writeHeader('content-type', 'application/json').end(answers.whole));
}

const { uws } = loadUws([]);
const app = uws.App();
app.any('/*', (res, req) => {
  const answers = req.getUrl().endsWith('/messages') ? native : chat;
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  res.onData((_chunk, isLast) => {
    if (!isLast) return;
    if (latencyMs > 0) setTimeout(send, latencyMs, res, answers, () => isGone);
    else send(res, answers, () => isGone);
  });
});
app.listen('127.0.0.1', port, (token) => {
  if (token === false) throw new Error(`port ${port} is taken`);
});
