import { expect, it } from 'vitest';
import { Secret } from '../../../../src/lib/secret.ts';
import { createAuthorizeAdmin } from '../../../../src/ops/access/authorize-admin.ts';
import { createCallerMemory } from '../../../../src/ops/access/caller-memory.ts';
import { OpsProblem } from '../../../../src/ops/ops-problem.ts';

const FAILURES_MAX = 10;
/** The same value as in `guards/minute-limiter.ts`. */
const ADDRESSES_MAX = 10_000;

function createAuthorize(token: string) {
  const clock = { nowMs: () => Date.now() };
  return createAuthorizeAdmin({
    ...{ token: new Secret(token), oidc: undefined, callers: createCallerMemory(clock), clock },
    operators: { findOperator: async () => undefined },
    sessions: { find: async () => undefined },
  });
}

/** Returns the status that a token gets from an address. */
function createTry() {
  const authorize = createAuthorize('right');
  return async (token: string, address: string): Promise<number> => {
    try {
      await authorize({ authorization: `Bearer ${token}` }, address);
      return 200;
    } catch (error) {
      return error instanceof OpsProblem ? error.status : 500;
    }
  };
}

it('an IPv6 client waits with all the addresses of its network', async () => {
  const attempt = createTry();
  for (let i = 0; i < FAILURES_MAX; i++) await attempt('wrong', `2001:db8:1:1::${i}`);
  expect(await attempt('wrong', '2001:db8:1:1::ffff')).toBe(429);
  expect(await attempt('right', '2001:db8:1:1::ffff')).toBe(200);
  expect(await attempt('wrong', '2001:db8:1:2::1')).toBe(401);
});

it('more addresses than are kept push out the oldest, which may try again', async () => {
  const attempt = createTry();
  for (let i = 0; i < FAILURES_MAX; i++) await attempt('wrong', '10.0.0.1');
  expect(await attempt('wrong', '10.0.0.1')).toBe(429);
  for (let i = 0; i < ADDRESSES_MAX; i++) await attempt('wrong', `11.0.${i >> 8}.${i & 255}`);
  expect(await attempt('wrong', '10.0.0.1')).toBe(401);
});

it('a token that could be found by trying shows nothing of itself', async () => {
  const show = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await createAuthorize(token)(headers, '10.0.0.1')).token;
  };
  expect(await show('x'.repeat(15))).toBeNull();
  expect(await show('x'.repeat(16))).toMatch(/^[0-9a-f]{8}$/);
});
