import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRecordStore } from '../../src/accounts/record-store.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a store that is out is given up within two seconds, although the clock is set back', async () => {
  const store = createRecordStore({ send: () => Promise.reject(new Error('Command timed out')) });
  const refused = expect(store.readSet('keys')).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  await vi.advanceTimersByTimeAsync(200);
  vi.setSystemTime(Date.now() - HOUR_MS);
  await vi.advanceTimersByTimeAsync(1_800);
  await refused;
}, 5_000);
