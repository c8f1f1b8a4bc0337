/**
 * `stream-load-main.js FILE`: keeps streams open and counts events. Its parent sends `begin` and
 * `report`.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { MARK } from '../aim.ts';
import { createDelayCounter } from './create-delay-counter.ts';

export interface StreamOrder {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Events of one stream. */
  readonly marks: number;
  readonly streams: number;
  readonly opensPerSecond: number;
}

export interface StreamReport {
  readonly events: number;
  readonly failures: number;
  readonly openStreams: number;
  /** Delays between two events of the same stream. */
  readonly longestGapMs: number;
  /** Delays since the upstream wrote an event. */
  readonly latencyMs: Readonly<Record<string, number>>;
}

const MARK_BYTE = MARK.charCodeAt(0);
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const GOOD_HEAD = Buffer.from('HTTP/1.1 200');
const STAMP_CHARS_MAX = 20;
const OPEN_INTERVAL_MS = 10;
const REOPEN_AFTER_MS = 200;
const MICROS_PER_MS = 1_000;

const order = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as StreamOrder;
const request = Buffer.from(
  `POST ${order.path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${Object.entries(order.headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}content-length: ${Buffer.byteLength(order.body)}\r\n\r\n${order.body}`,
);

const delays = createDelayCounter();
let events = 0;
let failures = 0;
let longestGapMs = 0;
/** How many streams have received an event. */
let begunEver = 0;
/** Streams that have received an event and have not ended. */
const open = new Set<Stream>();

/** One of the streams to keep open. It outlives its answers and its connections. */
interface Stream {
  seen: number;
  lastMs: number;
  isBegun: boolean;
  wasOpen: boolean;
}

const nowMicros = () => (performance.timeOrigin + performance.now()) * MICROS_PER_MS;

function keepOpen(stream: Stream): void {
  const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true });
  socket.once('connect', () => ask(socket, stream));
  socket.on('data', (bytes) => take(socket, stream, bytes));
  socket.on('error', () => {});
  socket.once('close', () => {
    open.delete(stream);
    // Some contestants close the connection after each answer. That is not a failure.
    if (stream.seen < order.marks) failures += 1;
    setTimeout(keepOpen, stream.seen < order.marks ? REOPEN_AFTER_MS : 0, stream);
  });
}

function ask(socket: Socket, stream: Stream): void {
  stream.seen = 0;
  stream.isBegun = false;
  socket.write(request);
}

function take(socket: Socket, stream: Stream, bytes: Buffer): void {
  if (!stream.isBegun && !bytes.subarray(0, GOOD_HEAD.length).equals(GOOD_HEAD)) {
    socket.destroy();
    return;
  }
  stream.isBegun = true;
  countMarks(stream, bytes);
  if (stream.seen >= order.marks && bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) {
    ask(socket, stream);
  }
}

function countMarks(stream: Stream, bytes: Buffer): void {
  let at = bytes.indexOf(MARK_BYTE);
  if (at < 0) return;
  const micros = nowMicros();
  const nowMs = micros / MICROS_PER_MS;
  if (stream.seen > 0) longestGapMs = Math.max(longestGapMs, nowMs - stream.lastMs);
  stream.lastMs = nowMs;
  open.add(stream);
  if (!stream.wasOpen) begunEver += 1;
  stream.wasOpen = true;
  for (; at >= 0; at = bytes.indexOf(MARK_BYTE, at + 1)) {
    stream.seen += 1;
    events += 1;
    const [stamp = ''] = bytes.toString('latin1', at + 1, at + STAMP_CHARS_MAX).split(';', 1);
    const sentMicros = Number(stamp);
    // The rest of a stamp that is cut comes with the next bytes. One delay less does not matter.
    if (sentMicros > micros / 2) delays.count((micros - sentMicros) / MICROS_PER_MS);
  }
}

function report(): StreamReport {
  const latencyMs = delays.quantiles();
  return { events, failures, openStreams: open.size, longestGapMs, latencyMs };
}

let started = 0;
const opener = setInterval(() => {
  const due = Math.min(
    order.streams,
    started + Math.ceil((order.opensPerSecond * OPEN_INTERVAL_MS) / MICROS_PER_MS),
  );
  for (; started < due; started++) keepOpen({ seen: 0, lastMs: 0, isBegun: false, wasOpen: false });
  if (begunEver < order.streams) return;
  clearInterval(opener);
  process.send?.(report());
}, OPEN_INTERVAL_MS);

process.on('message', (word) => {
  if (word === 'report') process.send?.(report());
  if (word !== 'begin') return;
  events = 0;
  failures = 0;
  longestGapMs = 0;
  delays.clear();
});
process.once('disconnect', () => process.exit());
