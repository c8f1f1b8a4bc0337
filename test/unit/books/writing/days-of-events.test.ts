import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { firstDayOfEvent } from '../../../../src/books/writing/days-of-events.ts';
import { createRequestIdMint } from '../../../../src/lib/request-id.ts';

const DAY_MS = 86_400_000;
const DAY = 20_777;
const mintRequestId = createRequestIdMint(randomBytes);
const firstDay = (begunDay: number) =>
  firstDayOfEvent({ request: mintRequestId(begunDay * DAY_MS), ms: DAY * DAY_MS + 5 });

it('an event may be in the books from the day on which its request began', () => {
  expect(firstDay(DAY)).toBe(DAY);
  expect(firstDay(DAY - 1)).toBe(DAY - 1);
  expect(firstDay(DAY + 3)).toBe(DAY);
  expect(firstDayOfEvent({ request: 'topup_1', ms: DAY * DAY_MS })).toBe(DAY);
});

it('an id that a clock far behind has made does not lead months back', () => {
  expect(firstDay(DAY - 7)).toBe(DAY - 7);
  expect(firstDay(DAY - 90)).toBe(DAY - 7);
});
