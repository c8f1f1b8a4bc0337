import { closeSync, openSync, writeSync } from 'node:fs';
import { pack } from 'msgpackr';
import { destination, pino } from 'pino';
import { Counter, Histogram, Registry } from 'prom-client';
import { encodeLineHead, encodeRequestLine } from '../../src/log/encode-request-line.ts';
import { createProcessMetrics } from '../../src/metrics/process-metrics.ts';
import {
  encodeLedgerUsage,
  encodeSettlement,
  type Settlement,
} from '../../src/quota/settlement/settlement.ts';
import { deltaBytesMax, encodeDelta } from '../../src/quota/settling/delta.ts';
import { DETAILS } from '../../test/support/request-details.ts';
import { SAMPLE_RECORD } from '../support/sample-record.ts';
import { cpuMicros, type Twin } from './twin.ts';

const USAGE = {
  input: 12,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 50,
  thinking: 0,
  searches: 0,
};
const SETTLEMENTS = 2_000;
const BUCKET = 5;
const { random } = Math;

let serial = 0;

function createSettlement(): Settlement {
  serial += 1;
  const details = { ...DETAILS, startedMs: 1_795_000_000_000 + serial, totalMs: 50 * random() };
  return {
    bucket: BUCKET,
    accountId: 'acct_05mAUnU9ywm0',
    keyId: '05d6yFAUnU9',
    requestId: `req_0TtWXs${String(random()).slice(2).padEnd(18, '0').slice(0, 18)}`,
    month: '202611',
    model: 'llm-haiku-4.5',
    extras: '',
    actualMicros: Math.floor(1_000 * random()),
    lastKnownMs: 1_795_000_000_050 + serial,
    usage: encodeLedgerUsage({ ...USAGE, output: Math.floor(400 * random()) }, false, details),
  };
}

const settlement = createSettlement();
const settlements = Array.from({ length: SETTLEMENTS }, () => encodeSettlement(createSettlement()));

function packByLibrary(): Buffer {
  const { price, tries } = DETAILS;
  const details = [
    ...[DETAILS.format, DETAILS.isStream, DETAILS.maskedKey],
    [DETAILS.bodyBytes, DETAILS.estimatedTokens, DETAILS.outputTokensMax],
    [price.input, price.output, price.cacheRead, price.cacheWrite5m, price.cacheWrite1h],
    tries.flatMap(({ upstream, result }) => [upstream, result]),
    ...[DETAILS.outcome, DETAILS.status ?? null, DETAILS.refusal ?? null, DETAILS.startedMs],
    [
      ...[DETAILS.bodyMs, DETAILS.admittedMs, DETAILS.firstEventMs ?? null],
      ...[DETAILS.totalMs, DETAILS.upstreamWaitMs, DETAILS.clientWaitMs],
    ],
    ...[DETAILS.configVersion, DETAILS.isUsageImplausible],
  ];
  const counts = [USAGE.input, USAGE.cacheRead, USAGE.cacheWrite5m, USAGE.cacheWrite1h];
  const usage = pack([2, ...counts, USAGE.output, USAGE.thinking, false, details]);
  const { accountId, keyId, requestId, month, model, actualMicros, lastKnownMs } = settlement;
  const names = [accountId, keyId, requestId, month, model];
  return pack([1, BUCKET, ...names, actualMicros, lastKnownMs, usage]);
}

function packByHand(): Buffer {
  return encodeSettlement({ ...settlement, usage: encodeLedgerUsage(USAGE, false, DETAILS) });
}

function measureDelta(): number {
  const target = Buffer.alloc(deltaBytesMax(settlements[0]?.length ?? 0) * 2);
  let base: Uint8Array = new Uint8Array(0);
  let bytes = 0;
  for (const each of settlements) {
    bytes += encodeDelta(each, base, target, 0);
    base = each;
  }
  return bytes / SETTLEMENTS;
}

function measureWhole(): number {
  let bytes = 0;
  for (const each of settlements) bytes += each.length;
  return bytes / SETTLEMENTS;
}

const devNull = openSync('/dev/null', 'w');
process.once('exit', () => closeSync(devNull));
const log = pino(
  { base: { pid: process.pid, from: 'worker 1' } },
  destination({ dest: '/dev/null', sync: true }),
);

const labels = { route: 'native', model: 'llm-haiku-4.5', status: '200', outcome: 'complete' };
const { route, model } = labels;
const metrics = createProcessMetrics({
  models: [model],
  upstreams: [],
  versions: [],
  nodeVersions: [],
});
const requests = metrics.requests.at(labels);
const duration = metrics.requestSeconds.at({ route, model });
const tokens = metrics.tokens.at({ model, kind: 'output' });
const registers = [new Registry()];
const counted = { help: 'x', registers };
const promRequests = new Counter({ ...counted, name: 'a', labelNames: Object.keys(labels) });
const promSeconds = new Histogram({ ...counted, name: 'b', labelNames: ['route', 'model'] });
const promTokens = new Counter({ ...counted, name: 'c', labelNames: ['model', 'kind'] });

export const RECORD_TWINS: readonly Twin[] = [
  {
    file: 'src/quota/settlement/pack-writer.ts',
    what: 'usage and settlement of a request packed',
    unit: 'us',
    plain: cpuMicros(packByLibrary),
    fast: cpuMicros(packByHand),
  },
  {
    file: 'src/quota/settling/delta.ts',
    what: 'a settlement kept for a replay',
    unit: 'B',
    plain: measureWhole,
    fast: measureDelta,
  },
  {
    file: 'src/log/encode-request-line.ts',
    what: 'a line of the request log with `log.requests: all`',
    unit: 'us',
    plain: cpuMicros(() => log.info(SAMPLE_RECORD, 'request')),
    fast: cpuMicros(() => {
      const head = encodeLineHead(process.pid, 'worker 1', Date.now());
      writeSync(devNull, encodeRequestLine(SAMPLE_RECORD, { head, isTrouble: false }));
    }),
  },
  {
    file: 'src/metrics/process-metrics.ts',
    what: 'six counters and three histograms of a request',
    unit: 'us',
    plain: cpuMicros(() => {
      for (let i = 0; i < 3; i++) {
        promRequests.inc(labels, 1);
        promSeconds.observe({ route, model }, 0.2);
        promTokens.inc({ model, kind: 'output' }, 50);
      }
    }),
    fast: cpuMicros(() => {
      for (let i = 0; i < 3; i++) {
        requests.add(1);
        duration.observe(0.2);
        tokens.add(50);
      }
    }),
  },
];
