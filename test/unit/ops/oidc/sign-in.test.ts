import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createCookies } from '../../../../src/ops/access/session-cookie.ts';
import type { OidcParts } from '../../../../src/ops/oidc/oidc-parts.ts';
import { createSignInHandlers } from '../../../../src/ops/oidc/sign-in.ts';
import { createMemoryLog } from '../../../support/memory-log.ts';

const STRANGER = {
  url: '/oidc/callback?code=1',
  headers: {},
  socket: { remoteAddress: '192.0.2.7' },
} as unknown as IncomingMessage;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('refusals that anybody can get at will are all counted, and logged once a minute each', async () => {
  const log = createMemoryLog();
  const onSignIn = vi.fn();
  const { signIn, callback } = createSignInHandlers({
    // It has no address that can be asked.
    oidc: { issuer: '' },
    ...{ cookies: createCookies(true), clock: { nowMs: Date.now }, onSignIn, log },
  } as unknown as OidcParts);
  const ask = async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 35; i++) {
      for (const handle of [signIn, callback]) statuses.push((await handle(STRANGER)).status);
    }
    return { begun: statuses.filter((status) => status === 502).length, last: statuses.slice(-2) };
  };
  const linesOf = (text: string) =>
    log.lines.filter(({ fields }) => String(fields['reason']).startsWith(text)).length;

  expect(await ask()).toEqual({ begun: 30, last: [429, 400] });
  expect(onSignIn.mock.calls.filter(([result]) => result === 'refused')).toHaveLength(40);
  expect([linesOf('too many sign-ins'), linesOf('this sign-in has ended')]).toEqual([1, 1]);
  // What is not for anybody at will is in the log each time.
  expect(linesOf('the provider cannot be asked')).toBe(30);

  vi.advanceTimersByTime(60_000);
  await ask();
  expect([linesOf('too many sign-ins'), linesOf('this sign-in has ended')]).toEqual([2, 2]);
});
