/** What counting, logging and tracing cost a worker for each request. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createObserveRequest } from '../../src/metrics/observe-request.ts';
import { createProcessMetrics } from '../../src/metrics/process-metrics.ts';
import type { Caller } from '../../src/protocol/admission.ts';
import { createTraceStarter } from '../../src/tracing/create-trace-starter.ts';
import { createTracer } from '../../src/tracing/tracer.ts';
import { createRequestLogSubject } from '../support/create-request-log-subject.ts';
import { reportCpuCosts, type Subject } from '../support/report-cpu-costs.ts';
import { SAMPLE_RECORD } from '../support/sample-record.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const NOTHING_LEFT = () => Promise.resolve();
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
const collector = fork(join(import.meta.dirname, '../support/collector-main.js'));
const [{ port }] = (await once(collector, 'message')) as [{ port: number }];

function createMetricsSubject(): Subject {
  const metrics = createProcessMetrics({
    models: ['llm-haiku-4.5'],
    upstreams: ['main'],
    versions: [],
    nodeVersions: [],
  });
  const observe = createObserveRequest(metrics);
  return { name: 'metrics', call: () => observe(SAMPLE_RECORD), settle: NOTHING_LEFT };
}

/** A client that sends its own trace context, because that costs more. */
const caller: Caller = {
  header: (name) => (name === 'traceparent' ? TRACEPARENT : undefined),
  peerAddress: '127.0.0.1',
};

function createUntracedSubject(): Subject {
  const startTrace = createTraceStarter(0);
  return {
    name: 'a trace that is passed on and not recorded',
    call: () => void startTrace(caller),
    settle: NOTHING_LEFT,
  };
}

function createTracedSubject(): Subject {
  const startTrace = createTraceStarter(1);
  const tracer = createTracer({
    collector: { endpoint: `http://127.0.0.1:${port}/v1/traces`, headers: {} },
    ...{ version: '0', pid: process.pid, clock: { nowMs: () => Date.now() }, log: SILENT },
    onLost(spans) {
      throw new Error(`${spans} spans were lost`);
    },
  });
  return {
    name: 'tracing of every request, with its export',
    call() {
      const trace = startTrace(caller);
      trace?.recording?.startCall('main');
      tracer.note({ ...SAMPLE_RECORD, trace });
    },
    settle: () => tracer.close(),
  };
}

await reportCpuCosts('observe-request', () => [
  createMetricsSubject(),
  createRequestLogSubject('request log `errors`, none', 'errors', join(dir, 'errors')),
  createRequestLogSubject('request log `all`', 'all', join(dir, 'all')),
  createUntracedSubject(),
  createTracedSubject(),
]);
collector.disconnect();
rmSync(dir, { recursive: true });
