import { expect, it } from 'vitest';
import { listWithStates } from '../../../../../src/dashboard/pages/catalogue/list-with-states.ts';

const noteOf = (version: number, from: string) => ({
  ...{ version, from: `2027-01-${from}T00:00:00Z`, applied_at: '2027-01-01T00:00:00Z' },
  ...({ kind: 'apply', who: null, rolled_back_to: null } as const),
});

const statesOf = (froms: readonly string[], sold: number, refused?: number) => {
  const notes = froms.map((from, place) => noteOf(place + 1, from)).toReversed();
  const listed = listWithStates(notes, { sold, refused });
  return listed.toReversed().map(({ state }) => state);
};

it('tells versions that held from the one in force and those that wait', () => {
  expect(statesOf(['01', '02', '03', '09'], 2)).toEqual([
    ...['past', 'in force', 'scheduled', 'scheduled'],
  ]);
});

it('tells that a version was withdrawn by one that holds earlier', () => {
  expect(statesOf(['01', '08', '09', '02'], 4)).toEqual([
    ...['past', 'withdrawn', 'withdrawn', 'in force'],
  ]);
});

it('counts of versions for the same time only the last as scheduled', () => {
  expect(statesOf(['01', '09', '09'], 1)).toEqual(['in force', 'withdrawn', 'scheduled']);
});

it('tells which version a node cannot sell', () => {
  expect(statesOf(['01', '02', '03', '09'], 2, 3)).toEqual([
    ...['past', 'in force', 'refused', 'scheduled'],
  ]);
});
