import fc from 'fast-check';
import prometheus from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parseMetrics } from '../../../src/top/parse-metrics.ts';

const samplesOf = (text: string, name: string) =>
  (parseMetrics(text).get(name) ?? []).map(({ labels, value }) => [
    Object.fromEntries(labels),
    value,
  ]);

describe('the parser of metrics', () => {
  it('reads names, labels, values and times', () => {
    const text = [
      '# HELP a_total What it is: {not="a sample"} 1',
      '# TYPE a_total counter',
      '# anything else',
      '',
      'a_total 1',
      'a_total{} 2',
      'a_total{x="1"} 3.5e-3',
      'a_total{x="1",y="2",} -4 1700000000000',
      'a_total{ x = "1" , y="" } 5',
      'b:c{le="+Inf"} +Inf',
      'b:c{le="0.1"}\tNaN',
      'b:c -Inf',
    ];
    expect(samplesOf(text.join('\n'), 'a_total')).toEqual([
      [{}, 1],
      [{}, 2],
      [{ x: '1' }, 0.0035],
      [{ x: '1', y: '2' }, -4],
      [{ x: '1', y: '' }, 5],
    ]);
    expect(samplesOf(text.join('\n'), 'b:c')).toEqual([
      [{ le: '+Inf' }, Number.POSITIVE_INFINITY],
      [{ le: '0.1' }, Number.NaN],
      [{}, Number.NEGATIVE_INFINITY],
    ]);
  });

  it.each([
    ['a', 'value'],
    ['a{x="1"}', 'value'],
    ['a one', 'value'],
    ['a 0x10', 'value'],
    ['a 1 2 3', 'value'],
    ['a{x="1" 1', 'labels'],
    ['a{x=1} 1', 'labels'],
    ['a{x="1",x="2"} 1', 'labels'],
    ['a{x="1"y="2"} 1', 'labels'],
    ['a{,} 1', 'labels'],
    ['a{x="\\t"} 1', 'labels'],
    ['1a 1', 'name'],
    ['{x="1"} 1', 'name'],
    ['<html>', 'name'],
    ['# TYPE a number', 'TYPE'],
  ])('refuses %s with its line', (line, what) => {
    expect(() => parseMetrics(`ok 1\n${line}\n`)).toThrow(new RegExp(`^line 2 .*${what}`));
  });

  it('reads back whatever prom-client prints', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(fc.string(), fc.string(), fc.double({ noNaN: true })), {
          selector: ([x, y]) => JSON.stringify([x, y]),
          maxLength: 8,
        }),
        async (samples) => {
          const registry = new prometheus.Registry();
          const gauge = new prometheus.Gauge({
            name: 'g',
            help: 'a "help"\nof \\ two lines',
            labelNames: ['x', 'y'],
            registers: [registry],
          });
          for (const [x, y, value] of samples) gauge.set({ x, y }, value);
          // -0 is printed as 0.
          const expected = samples.map(([x, y, value]) => [{ x, y }, value + 0]);
          expect(samplesOf(await registry.metrics(), 'g')).toEqual(expected);
        },
      ),
      { numRuns: 100 },
    );
  });
});
