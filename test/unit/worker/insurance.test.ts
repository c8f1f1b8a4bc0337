import { expect, it } from 'vitest';
import { createInsurance } from '../../../src/worker/insurance.ts';

const ORDER = { key: { digest: 'digest' }, modelNames: ['m'] };

it('charges an insured request to the month of its own admission, by the clock of Redis', async () => {
  let nowMs = Date.parse('2026-10-31T23:59:50Z');
  const clock = { nowMs: () => nowMs };
  const insurance = createInsurance({ insurancePerMinuteMax: 10 }, clock, () => 2_000);
  insurance.noteAdmitted(ORDER, { accountId: 'acc_1' });
  expect(await insurance.insure(ORDER)).toEqual({ accountId: 'acc_1', month: '202610' });
  nowMs += 8_000;
  expect(await insurance.insure(ORDER)).toEqual({ accountId: 'acc_1', month: '202611' });
});

it('insures a key for each model that it was admitted for, and for all of them so often', async () => {
  const clock = { nowMs: () => 0 };
  const insurance = createInsurance({ insurancePerMinuteMax: 2 }, clock, () => 0);
  const ask = (model: string) => insurance.insure({ ...ORDER, modelNames: [model] });
  insurance.noteAdmitted(ORDER, { accountId: 'acc_1' });
  insurance.noteAdmitted({ ...ORDER, modelNames: ['second'] }, { accountId: 'acc_1' });
  expect(await ask('other')).toBeUndefined();
  expect(await ask('m')).toBeDefined();
  expect(await ask('second')).toBeDefined();
  expect(await ask('m')).toBeUndefined();
});
