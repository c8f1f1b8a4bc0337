import { expect, test } from 'vitest';
import { classifyRedisError } from '../../../src/redis/classify-redis-error.ts';
import { failAfter } from '../../../src/redis/fail-after.ts';

const NEVER = new Promise<never>(() => {});

test('a reply that never comes is an outage in the end', async () => {
  const error = await failAfter(NEVER, 1).catch((reason: unknown) => reason);
  expect(classifyRedisError(error)).toBe('outage');
});

test('a reply or an error that comes in time is passed on', async () => {
  await expect(failAfter(Promise.resolve('OK'), 60_000)).resolves.toBe('OK');
  const error = new Error('MOVED');
  await expect(failAfter(Promise.reject(error), 60_000)).rejects.toBe(error);
});
