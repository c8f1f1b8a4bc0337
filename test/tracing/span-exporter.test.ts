import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/lib/secret.ts';
import { mintSpanId, mintTraceId } from '../../src/tracing/mint-span-ids.ts';
import { encodeUnixNano, type OtlpSpan } from '../../src/tracing/otlp.ts';
import { createSpanExporter, OPEN_SPANS_MAX } from '../../src/tracing/span-exporter.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { type CollectorOptions, startCollector } from '../support/servers/start-collector.ts';
import { waitUntil } from '../support/wait-until.ts';

function createSpan(): OtlpSpan {
  return {
    traceId: mintTraceId(),
    spanId: mintSpanId(),
    flags: 1,
    name: 'chat',
    kind: 2,
    startTimeUnixNano: encodeUnixNano(1_700_000_000_000),
    endTimeUnixNano: encodeUnixNano(1_700_000_000_001.5),
    attributes: [],
    status: {},
  };
}

async function start(options: Partial<CollectorOptions> = {}) {
  const collector = await startCollector({ ...options, cleanUp: onTestFinished });
  const log = createMemoryLog();
  let lost = 0;
  const exporter = createSpanExporter({
    collector: { endpoint: collector.endpoint, headers: { 'x-token': new Secret('top') } },
    resource: [],
    scope: { name: 'test', version: '1' },
    clock: { nowMs: () => Date.now() },
    log,
    onLost(spans) {
      lost += spans;
    },
  });
  return { collector, exporter, log, lost: () => lost };
}

describe('the exporter of spans', () => {
  it('sends each span once, in batches, with the headers it was given', async () => {
    const { collector, exporter, log, lost } = await start();
    const spans = Array.from({ length: 2_000 }, createSpan);
    for (const span of spans) exporter.add([span]);
    await waitUntil(() => collector.spans.length >= spans.length, 'all have come by themselves');
    const idsOf = (list: readonly { spanId: string }[]) => list.map(({ spanId }) => spanId);
    expect(idsOf(collector.spans)).toEqual(idsOf(spans));
    expect(collector.bodies.length).toBeLessThan(10);
    for (const headers of collector.headers) expect(headers['x-token']).toBe('top');
    expect(collector.problems).toEqual([]);
    expect(log.lines).toEqual([]);
    expect(lost()).toBe(0);
  });

  it('keeps no more than its bound for a collector that is stuck, and counts the rest', async () => {
    const { exporter, collector, log, lost } = await start({ answer: () => undefined });
    for (let i = 0; i < OPEN_SPANS_MAX + 7; i++) exporter.add([createSpan()]);
    expect(log.lines).toMatchObject([{ fields: { dropped: 1, why: 'the queue is full' } }]);
    await exporter.close();
    expect(collector.bodies).toHaveLength(1);
    const dropped = log.lines.map(({ fields }) => Number(fields['dropped']));
    expect(dropped.reduce((sum, count) => sum + count, 0)).toBe(OPEN_SPANS_MAX + 7);
    expect(lost()).toBe(OPEN_SPANS_MAX + 7);
  });

  it.each([429, 502, 503, 504])('tries again after a status %d', async (status) => {
    const { collector, exporter, log } = await start({
      answer: (number) => (number === 1 ? status : 200),
    });
    exporter.add([createSpan()]);
    await waitUntil(() => collector.spans.length === 1, 'it has come');
    expect(collector.bodies).toHaveLength(2);
    expect(log.lines).toEqual([]);
  });

  it('sends nothing again that was taken with an answer of any length', async () => {
    const { collector, exporter, log, lost } = await start({ answerBytes: 1_000_000 });
    exporter.add([createSpan()]);
    await exporter.close();
    expect(collector.spans).toHaveLength(1);
    expect(log.lines).toEqual([]);
    expect(lost()).toBe(0);
  });

  it('counts what the collector takes no part of', async () => {
    const { collector, exporter, log, lost } = await start({ rejected: 2 });
    exporter.add([createSpan(), createSpan(), createSpan()]);
    await exporter.close();
    expect(collector.bodies).toHaveLength(1);
    expect(log.lines).toMatchObject([{ fields: { dropped: 2 } }]);
    expect(lost()).toBe(2);
  });

  it('gives up on what the collector refuses, says so once, and goes on', async () => {
    const { collector, exporter, log } = await start({
      answer: (number) => (number <= 2 ? 400 : 200),
    });
    for (const number of [1, 2, 3]) {
      exporter.add([createSpan()]);
      await waitUntil(() => collector.bodies.length === number, 'it was sent');
    }
    await exporter.close();
    expect(collector.spans).toHaveLength(1);
    const [first, second, ...others] = log.lines.map(({ fields }) => fields);
    expect(first).toEqual({ dropped: 1, why: 'status 400' });
    expect(second).toMatchObject({ dropped: 1 });
    expect(others).toEqual([]);
  });
});
