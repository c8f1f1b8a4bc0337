import { setFlagsFromString } from 'node:v8';
import { expect, it } from 'vitest';

setFlagsFromString('--allow-natives-syntax');
const hasFastProperties = new Function('value', 'return %HasFastProperties(value)') as (
  value: object,
) => boolean;

// In its own file, and so in its own process: nothing else has quickened the strings.
it('the methods of texts are fast where the Redis client has been loaded', async () => {
  await import('../../../src/redis/connect-redis.ts');
  expect(hasFastProperties(String.prototype)).toBe(true);
});
