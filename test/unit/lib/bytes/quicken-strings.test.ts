import { setFlagsFromString } from 'node:v8';
import { expect, it } from 'vitest';
import { quickenStrings } from '../../../../src/lib/bytes/quicken-strings.ts';

setFlagsFromString('--allow-natives-syntax');
// An intrinsic of V8: whether an object has fast properties and is not in dictionary mode.
const hasFastProperties = new Function('value', 'return %HasFastProperties(value)') as (
  value: object,
) => boolean;

// One test for both: quickened strings stay so, whatever comes after.
it('the methods of texts are slowed down by the Redis client, until they are quickened', async () => {
  await import('ioredis');
  class Slower extends String {}
  expect(new Slower('a').length).toBe(1);
  expect(hasFastProperties(String.prototype)).toBe(false);
  quickenStrings();
  expect(hasFastProperties(String.prototype)).toBe(true);
});
