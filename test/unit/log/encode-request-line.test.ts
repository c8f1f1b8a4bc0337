import { Writable } from 'node:stream';
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { measureRequest, type RequestRecord } from '../../../src/gateway/request-record.ts';
import { creditsOf } from '../../../src/lib/units/micros.ts';
import { encodeLineHead, encodeRequestLine } from '../../../src/log/encode-request-line.ts';

const FROM = 'worker 1';
const NOW_MS = 1_795_000_000_123;
const name = fc.stringMatching(/^[a-zA-Z0-9_.-]{1,20}$/);
const ms = fc.double({ min: 0, max: 100_000, noNaN: true });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const tokens = fc.nat(100_000);

const records: fc.Arbitrary<RequestRecord> = fc.record({
  requestId: name,
  route: fc.constantFrom('native', 'chat'),
  trace: fc.constant(undefined),
  keyId: maybe(name),
  isKeyProven: fc.boolean(),
  maskedKey: maybe(name.map((text) => `sk-gw2-…${text}`)),
  model: maybe(name),
  droppedTools: fc.nat(2),
  upstream: maybe(name),
  tries: fc.array(
    fc.record({
      upstream: name,
      result: fc.constant('ok' as const),
      reason: maybe(fc.string({ unit: 'grapheme', maxLength: 60 })),
    }),
    { maxLength: 3 },
  ),
  isStream: fc.boolean(),
  status: maybe(fc.nat(599)),
  refusal: fc.constantFrom(undefined, 'rate_limited' as const),
  outcome: fc.constantFrom('complete', 'left', 'refused'),
  ...{ startedMs: ms, bodyMs: maybe(ms), admittedMs: maybe(ms), firstEventMs: maybe(ms) },
  ...{ endMs: ms, upstreamWaitMs: ms, clientWaitMs: ms },
  usage: maybe(
    fc.record({
      ...{ input: tokens, cacheRead: tokens, cacheWrite5m: tokens },
      ...{ cacheWrite1h: tokens, output: tokens, thinking: tokens, searches: tokens },
    }),
  ),
  ...{ chargeMicros: fc.nat(1e9), heldMicros: fc.nat(1e9) },
  isEstimated: fc.boolean(),
  isUsageMissing: fc.boolean(),
  isUsageImplausible: fc.boolean(),
});

const round = (value: number) => Math.round(value * 1_000) / 1_000;
const since = (startMs: number, atMs: number | undefined) =>
  atMs === undefined ? undefined : round(atMs - startMs);

/** The fields as an object. An undefined field counts as absent, as in JSON. */
function fieldsOf(record: RequestRecord) {
  const { requestId, route, keyId, maskedKey, model, upstream, tries, status, outcome } = record;
  const { durationSeconds, overheadSeconds, firstEventSeconds } = measureRequest(record);
  const { usage, isEstimated } = record;
  return {
    ...{ requestId, route, keyId, last4: maskedKey?.slice(-4), model },
    ...(model !== undefined && { isStream: record.isStream }),
    droppedTools: record.droppedTools > 0 ? record.droppedTools : undefined,
    upstream,
    ...(tries.length > 0 && { tries }),
    ...{ status, outcome, refusal: record.refusal },
    durationMs: round(durationSeconds * 1_000),
    bodyMs: since(record.startedMs, record.bodyMs),
    admittedMs: since(record.startedMs, record.admittedMs),
    firstEventMs: firstEventSeconds === undefined ? undefined : round(firstEventSeconds * 1_000),
    overheadMs: round(overheadSeconds * 1_000),
    upstreamWaitMs: round(record.upstreamWaitMs),
    clientWaitMs: round(record.clientWaitMs),
    ...(usage !== undefined && {
      usage: { ...usage, searches: usage.searches > 0 ? usage.searches : undefined },
      credits: creditsOf(record.chargeMicros),
      held: creditsOf(record.heldMicros),
      isEstimated,
    }),
  };
}

it('a line has the fields that pino would write, whatever became of the request', () => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const timestamp = () => `,"time":"${new Date(NOW_MS).toISOString()}"`;
  const log = pino({ base: { pid: process.pid, from: FROM }, timestamp }, stream);
  const head = encodeLineHead(process.pid, FROM, NOW_MS);
  fc.assert(
    fc.property(records, fc.boolean(), (record, isTrouble) => {
      if (isTrouble) log.warn(fieldsOf(record), 'request');
      else log.info(fieldsOf(record), 'request');
      const written = JSON.parse(encodeRequestLine(record, { head, isTrouble }));
      expect(written).toEqual(JSON.parse(lines.at(-1) ?? ''));
    }),
  );
});
