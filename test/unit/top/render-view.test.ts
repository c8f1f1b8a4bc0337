import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildView, type TopView } from '../../../src/top/build-view.ts';
import { renderView } from '../../../src/top/render-view.ts';
import { scrapeAt } from './top-scene.ts';

const WIDE = { columns: 120, rows: 100 };
const view = buildView(scrapeAt(10), scrapeAt(20));
const empty = buildView(undefined, scrapeAt(0, { cluster: undefined, metrics: undefined }));

describe('the screen', () => {
  it('shows everything in groups', () => {
    expect(renderView(view, WIDE)).toEqual([
      'tollgate top  node node-1  version 0.1.0',
      '',
      'requests/s 17  errors/s 3  streams 7',
      'tokens/s 150  credits/s 0.5',
      'latency p50 150ms p99 199ms  first token p50 30ms p99 39.8ms',
      'redis up  p50 1.5ms p99 1.99ms',
      'holds 9  settle queue 3  journal 1',
      'workers 2  memory 100MiB  lag p50 7.5ms p99 9.95ms',
      '',
      'upstream  state   in flight  tries/s  failures/s',
      'main      closed  11/512     25       4',
      'spare     -       2          0        0',
      '',
      'worker  pid  state     in flight  up',
      '1       101  running   5          20s',
      '2       102  draining  6          15s',
    ]);
  });

  it('shows what is not known as -', () => {
    expect(renderView(empty, WIDE).slice(0, 8)).toEqual([
      'tollgate top  node -  version -',
      '',
      'requests/s -  errors/s -  streams -',
      'tokens/s -  credits/s -',
      'latency p50 - p99 -  first token p50 - p99 -',
      'redis -  p50 - p99 -',
      'holds -  settle queue -  journal -',
      'workers -  memory -  lag p50 - p99 -',
    ]);
  });

  it('puts numbers below each other in a narrow terminal, and clips what is wider', () => {
    const lines = renderView(view, { columns: 24, rows: 100 });
    expect(lines).toContain('latency p50 150ms p99 1…');
    expect(lines).toContain('requests/s 17');
    expect(lines).toContain('errors/s 3  streams 7');
  });

  it('never has more lines or wider ones than fit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 130 }),
        fc.integer({ min: 1, max: 30 }),
        (columns, rows) => {
          const lines = renderView(view, { columns, rows });
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
        },
      ),
    );
    expect(renderView(view, { columns: 80, rows: 3 }).at(-1)).toBe('… 14 more lines');
  });

  it('lets nothing that a name holds reach the terminal as a command', () => {
    const [upstream] = view.upstreams;
    if (upstream === undefined) throw new Error('there is an upstream');
    const hostile: TopView = {
      ...view,
      problems: ['\u001b]0;title\u0007'],
      upstreams: [{ ...upstream, name: 'x\u001b[2Jy\n' }],
    };
    const text = renderView(hostile, WIDE).join('');
    expect(text).not.toMatch(/\p{Cc}/u);
    expect(text).toContain('x?[2Jy?');
  });

  it('writes large and small times in their units', () => {
    const worker = { worker: 1, pid: 1, state: 'running', in_flight: 0 };
    const at = (uptime: number) =>
      renderView({ ...view, workers: [{ ...worker, uptime_seconds: uptime }] }, WIDE).at(-1);
    expect([59, 60, 3_600, 86_400].map((uptime) => at(uptime)?.split(/ +/).at(-1))).toEqual([
      '59s',
      '1m',
      '1h',
      '1d',
    ]);
  });
});
