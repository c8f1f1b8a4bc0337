import { setFlagsFromString } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { quickenStrings } from '../../src/lib/quicken-strings.ts';

setFlagsFromString('--allow-natives-syntax');
// Of the engine's own: whether an object is a plain row of properties, and no table.
const hasFastProperties = new Function('value', 'return %HasFastProperties(value)') as (
  value: object,
) => boolean;

describe('the methods of texts', () => {
  it('are fast again after a class that extends String has slowed them down', () => {
    class Slower extends String {}
    expect(new Slower('a').length).toBe(1);
    class SlowerStill extends String {}
    expect(hasFastProperties(String.prototype)).toBe(false);
    quickenStrings();
    expect(hasFastProperties(String.prototype)).toBe(true);
    expect(SlowerStill.name).toBe('SlowerStill');
  });

  it('are fast where the Redis client has been loaded', async () => {
    await import('../../src/redis/connect-redis.ts');
    expect(hasFastProperties(String.prototype)).toBe(true);
  });
});
