import { expect, it } from 'vitest';
import { listPhases } from '../../../../../src/dashboard/pages/requests/list-phases.ts';

const TIMES = {
  ...{ started_at: '2026-11-22T00:00:00.000Z', body_ms: 2, admitted_ms: 5 },
  ...{ first_event_ms: 40, total_ms: 900, upstream_wait_ms: 880, client_wait_ms: 3 },
};

it('phases follow each other without a gap, from the head of a request to its end', () => {
  expect(listPhases(TIMES)).toEqual([
    { name: 'Body', fromMs: 0, toMs: 2 },
    { name: 'Admission', fromMs: 2, toMs: 5 },
    { name: 'Until the first event', fromMs: 5, toMs: 40 },
    { name: 'Until the end', fromMs: 40, toMs: 900 },
  ]);
});

it('a request without an event of an upstream says so', () => {
  expect(listPhases({ ...TIMES, first_event_ms: null }).at(-1)).toEqual({
    ...{ name: 'No event of an upstream', fromMs: 5, toMs: 900 },
  });
});
