import { describe, expect, it } from 'vitest';
import { buildFleetView } from '../../../src/top/build-fleet-view.ts';
import { readFleet, readSummary } from '../../../src/top/read-fleet.ts';
import { renderFleet } from '../../../src/top/render-fleet.ts';

const node = (id: string, state: string, upstream: string) => ({
  ...{ id, state, uptime_s: 90, version: '1.0.0', config: { version: 'abc-1' } },
  ...{ workers: { up: 1, wanted: 2 }, upstreams: [{ name: 'main', state: upstream }] },
  ...{ open: 3, requests_per_s: 1.5 },
});
const FLEET = readFleet({
  ...{ answered_by: 'one', fleet: { state: 'up' } },
  nodes: [node('one', 'up', 'closed'), node('two', 'up', 'open'), node('old', 'gone', 'open')],
  versions_differ: { config: true, catalogue: false, version: false },
});
const SUMMARY = readSummary({
  ...{ nodes: 2, requests: 20, refused: 1, streams: 4, credits: 0.5, open: 6 },
  ...{ latency_ms: { p50: 20, p90: 30, p99: 1_500 }, first_event_ms: null },
});
const SIZE = { columns: 80, rows: 40 };

describe('the view of all nodes', () => {
  it('counts nodes, workers and states of upstreams, without those that are gone', () => {
    expect(buildFleetView(FLEET, SUMMARY)).toMatchObject({
      ...{ states: { up: 2, gone: 1 }, workers_up: 2, workers_wanted: 4 },
      upstreams: [{ name: 'main', states: { closed: 1, open: 1 } }],
      problems: ['the nodes differ in their settings'],
      ...{ requests_per_second: 20, latency_seconds: { p50: 0.02, p99: 1.5 } },
      first_event_seconds: { p50: null, p99: null },
    });
  });

  it('is drawn with what is known, and fits on the screen', () => {
    const lines = renderFleet(buildFleetView(FLEET, SUMMARY), SIZE);
    expect(lines[0]).toBe('tollgate top --all  nodes 2 up, 1 gone');
    expect(lines).toContain('! the nodes differ in their settings');
    expect(lines).toContain('latency p50 20ms p99 1.5s  first event p50 - p99 -');
    expect(lines).toContain('main      1 closed, 1 open');
    expect(lines.join('\n')).toMatch(/^old +gone +- +- +- +1\.0\.0 +abc-1 +-$/m);
    const small = renderFleet(buildFleetView(FLEET, undefined), { columns: 20, rows: 5 });
    expect(small).toHaveLength(5);
    for (const line of small) expect(line.length).toBeLessThanOrEqual(20);
  });

  it('says what is missing while Redis is out, or from a node of another version', () => {
    const out = readFleet({ fleet: { state: 'out' }, nodes: [{ id: 'one' }] });
    expect(buildFleetView(out, undefined)).toMatchObject({
      ...{ problems: ['Redis does not answer, so other nodes are not known'], open: null },
      nodes: [{ id: 'one', state: null, workers_up: null }],
    });
    expect(buildFleetView(readFleet('nonsense'), undefined).nodes).toEqual([]);
  });
});
