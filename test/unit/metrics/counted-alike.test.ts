import fc from 'fast-check';
import { Counter, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { printMetrics } from '../../../src/metrics/merge-snapshots.ts';
import { METRICS } from '../../../src/metrics/metrics.ts';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';

const MODELS = ['m-1', 'm-2'];
const ROUTES = ['native', 'chat'];
const KINDS = ['input', 'output'];

const calls = fc.array(
  fc.record({
    model: fc.constantFrom(...MODELS),
    route: fc.constantFrom(...ROUTES),
    kind: fc.constantFrom(...KINDS),
    tokens: fc.nat(1_000),
    seconds: fc.double({ min: 0, max: 1_000, noNaN: true }),
  }),
  { maxLength: 30 },
);

/** The lines that are not 0, since a series may exist before it has a value to report. */
const linesOf = (text: string, names: readonly string[]) =>
  text
    .split('\n')
    .filter((line) => names.some((name) => line.startsWith(name)) && !line.endsWith(' 0'))
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => labels.split(',').sort().join()))
    .sort();

it('a process counts what prom-client would count', async () => {
  await fc.assert(
    fc.asyncProperty(calls, async (all) => {
      const metrics = createProcessMetrics({
        models: MODELS,
        upstreams: [],
        versions: [],
        nodeVersions: [],
      });
      const registers = [new Registry()];
      const { tokens, requestSeconds } = METRICS;
      const counter = new Counter({ ...tokens, labelNames: Object.keys(tokens.labels), registers });
      const histogram = new Histogram({
        ...requestSeconds,
        buckets: [...requestSeconds.buckets],
        labelNames: Object.keys(requestSeconds.labels),
        registers,
      });
      for (const call of all) {
        const { model, route, kind, seconds } = call;
        metrics.tokens.at({ model, kind }).add(call.tokens);
        metrics.requestSeconds.at({ route, model }).observe(seconds);
        counter.inc({ model, kind }, call.tokens);
        histogram.observe({ route, model }, seconds);
      }
      const names = [tokens.name, requestSeconds.name];
      const { text } = await printMetrics([metrics.read()]);
      expect(linesOf(text, names)).toEqual(linesOf((await registers[0]?.metrics()) ?? '', names));
    }),
  );
});
