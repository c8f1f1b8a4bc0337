import { describe, expect, it } from 'vitest';
import { joinHour, joinMinutes } from '../../../../../src/dashboard/pages/overview/join-traffic.ts';
import { listSamples, type Sample } from '../../../../../src/dashboard/sample.ts';

const NOTHING = {
  ...{ nodes: 1, requests: 0, refused: 0, refusals: {}, streams: 0, credits: 0, open: 0 },
  ...{ latency_ms: null, first_event_ms: null },
};
const second = (end: number): Sample => ({ ...NOTHING, atMs: end * 1_000, seconds: 1 });
const row = (end: number): Sample => ({ ...NOTHING, atMs: end * 1_000, seconds: 10 });
const ends = (samples: readonly Sample[]) => samples.map(({ atMs }) => atMs / 1_000);

describe('the history before what is seen live', () => {
  it('is as long as its rows say, and ends where they end', () => {
    const at = new Date(20_000).toISOString();
    expect(listSamples({ seconds: 10, data: [{ ...NOTHING, at, requests: 7 }] })).toEqual([
      { ...NOTHING, requests: 7, atMs: 30_000, seconds: 10 },
    ]);
  });

  it('is followed in an hour by the seconds that no row tells of', () => {
    const live = [18, 19, 20, 21, 22].map(second);
    expect(ends(joinHour([row(10), row(20)], live))).toEqual([10, 20, 21, 22]);
    expect(ends(joinHour([], live))).toEqual([18, 19, 20, 21, 22]);
    expect(joinHour([], [])).toEqual([]);
  });

  it('is used in a few minutes only for the time that was not seen', () => {
    const rows = [row(500), row(600), row(610), row(620), row(630), row(810)];
    const live = [613, 614, 815].map(second);
    expect(ends(joinMinutes(rows, live, 5))).toEqual([600, 610, 613, 614, 630, 810, 815]);
    expect(ends(joinMinutes(rows.slice(0, 4), [], 5))).toEqual([500, 600, 610, 620]);
  });
});
