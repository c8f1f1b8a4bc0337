import { setFlagsFromString } from 'node:v8';
import { expect, it } from 'vitest';
import { quickenGlobals } from '../../../../src/lib/bytes/quicken-globals.ts';

setFlagsFromString('--allow-natives-syntax');
const hasFastProperties = new Function('value', 'return %HasFastProperties(value)') as (
  value: object,
) => boolean;

const NAMES = ['Buffer', 'performance', 'process'] as const;

const describe = (name: string) => Object.getOwnPropertyDescriptor(globalThis, name);

// One test for all globals, in its own file and so its own process: once quickened, they stay so.
it('globals of Node.js are the same as before and plain values, once they are quickened', () => {
  const before = NAMES.map((name) => globalThis[name]);
  expect(describe('Buffer')?.get).toBeTypeOf('function');
  quickenGlobals();
  const quickened = NAMES.map(describe);
  for (const [i, name] of NAMES.entries()) {
    expect(describe(name)).toMatchObject({ value: before[i], writable: true, configurable: true });
  }
  expect(hasFastProperties(Object.getPrototypeOf(performance))).toBe(true);
  quickenGlobals();
  expect(NAMES.map(describe)).toEqual(quickened);
});
