import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAdmissionInsurance } from '../../../src/guards/admission-insurance.ts';

const ADMISSION = { account: 'acc_1', keyId: 'key_1', month: '202601', models: undefined };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function createInsurance(perMinuteMax = 2) {
  return createAdmissionInsurance<typeof ADMISSION>({
    perMinuteMax,
    clock: { nowMs: () => Date.now() },
  });
}

describe('the insurance of admissions', () => {
  it('knows what was admitted in the last minute, and refuses everybody else', async () => {
    const insurance = createInsurance();
    expect(await insurance.insure('a', 'm')).toBeUndefined();
    insurance.noteAdmitted('a', 'm', ADMISSION);
    expect(await insurance.insure('a', 'm')).toEqual(ADMISSION);
    expect(await insurance.insure('b', 'm')).toBeUndefined();
  });

  it('ends a minute after the last admission, however often it was used', async () => {
    const insurance = createInsurance(1_000);
    insurance.noteAdmitted('a', 'm', ADMISSION);
    for (let second = 0; second < 60; second += 1) {
      expect(await insurance.insure('a', 'm')).toEqual(ADMISSION);
      vi.advanceTimersByTime(1_000);
    }
    expect(await insurance.insure('a', 'm')).toBeUndefined();
  });

  it('tells for a minute after the last admission that some key may go on', () => {
    const insurance = createInsurance();
    expect(insurance.canInsure()).toBe(false);
    insurance.noteAdmitted('a', 'm', ADMISSION);
    vi.advanceTimersByTime(59_999);
    expect(insurance.canInsure()).toBe(true);
    vi.advanceTimersByTime(1);
    expect(insurance.canInsure()).toBe(false);
  });

  it('admits each key so often, even when all its requests ask in one turn', async () => {
    const insurance = createInsurance(2);
    insurance.noteAdmitted('a', 'm', ADMISSION);
    insurance.noteAdmitted('b', 'm', ADMISSION);
    const insured = await Promise.all(Array.from({ length: 50 }, () => insurance.insure('a', 'm')));
    expect(insured.filter((admission) => admission !== undefined)).toHaveLength(2);
    expect(await insurance.insure('b', 'm')).toEqual(ADMISSION);
  });

  it('takes no place of the minute for what does not fit', async () => {
    const insurance = createInsurance(1);
    insurance.noteAdmitted('a', 'm', ADMISSION);
    expect(await insurance.insure('a', 'other')).toBeUndefined();
    expect(await insurance.insure('a', 'm')).toEqual(ADMISSION);
  });

  it('answers with what was admitted last', async () => {
    const insurance = createInsurance();
    insurance.noteAdmitted('a', 'm', ADMISSION);
    insurance.noteAdmitted('a', 'm', { ...ADMISSION, month: '202602' });
    expect((await insurance.insure('a', 'm'))?.month).toBe('202602');
  });

  it('remembers no more than 10,000 keys, those that were admitted last', async () => {
    const insurance = createInsurance();
    for (let i = 0; i <= 10_000; i += 1) insurance.noteAdmitted(`key ${i}`, 'm', ADMISSION);
    expect(await insurance.insure('key 0', 'm')).toBeUndefined();
    expect(await insurance.insure('key 100', 'm')).toEqual(ADMISSION);
    expect(await insurance.insure('key 10000', 'm')).toEqual(ADMISSION);
  });
});
