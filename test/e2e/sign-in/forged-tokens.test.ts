import { beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type Claims,
  type ForgingProvider,
  startForgingProvider,
} from '../../support/oidc/start-forging-provider.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { createVisitor, startOidcNode } from './use-oidc-node.ts';

/** Of one address, within a minute that begins with the first. */
const SIGN_INS_MAX = 30;
const HOUR_S = 3_600;
const cleanUp = useCleanUp();
let provider: ForgingProvider;
let node: Gateway;

beforeAll(async () => {
  provider = await startForgingProvider(cleanUp);
  const opsPort = await findFreePort();
  const redirectUrl = `http://127.0.0.1:${opsPort}/oidc/callback`;
  const settings = '    session: 1m\n';
  node = await startOidcNode({
    ...{ issuer: provider.issuer, redirectUrl },
    opsPort,
    settings,
    cleanUp,
  });
});
beforeEach(() => {
  provider.forge = (claims) => claims;
  provider.isKeyWrong = false;
});

it('takes an ID token as it should be', async () => {
  const visitor = createVisitor(node);
  expect((await visitor.signIn()).status).toBe(303);
  expect(JSON.parse((await visitor.me()).text)).toMatchObject({ id: 'mallory', role: 'operator' });
});

it.each<[string, (claims: Claims) => Claims]>([
  ['another nonce', (claims) => ({ ...claims, nonce: 'another' })],
  ['no nonce', ({ nonce: _, ...claims }) => claims],
  ['another issuer', (claims) => ({ ...claims, iss: 'https://other.example' })],
  ['another audience', (claims) => ({ ...claims, aud: 'another-client' })],
  ['several audiences without ours', (claims) => ({ ...claims, aud: ['a', 'b'] })],
  ['an end that is over', (claims) => ({ ...claims, exp: Number(claims['exp']) - HOUR_S })],
  ['no end', ({ exp: _, ...claims }) => claims],
  ['no subject', ({ sub: _, ...claims }) => claims],
])('refuses an ID token with %s', async (_what, forge) => {
  provider.forge = forge;
  const visitor = createVisitor(node);
  const { status, text } = await visitor.signIn();
  expect([status >= 400, text]).toEqual([true, expect.stringContaining('Not signed in')]);
  expect(visitor.cookies.has('tollgate-session')).toBe(false);
  expect((await visitor.me()).status).toBe(401);
});

it('refuses an ID token that somebody else has signed', async () => {
  provider.isKeyWrong = true;
  const visitor = createVisitor(node);
  expect((await visitor.signIn()).status).toBe(400);
  expect(visitor.cookies.size).toBe(0);
});

it('gives no role for claims of odd shapes', async () => {
  for (const groups of [undefined, null, 7, { admins: true }, [['admins']], 'constructor', []]) {
    provider.forge = (claims) => ({ ...claims, groups });
    const visitor = createVisitor(node);
    expect([groups, (await visitor.signIn()).status]).toEqual([groups, 403]);
  }
});

it('lets an address that begins too many sign-ins wait', async () => {
  const visitor = createVisitor(node);
  const begin = () => visitor.visit(`${node.opsUrl}/oidc/sign-in`);
  const statuses: number[] = [];
  while (statuses.at(-1) !== 429 && statuses.length <= 2 * SIGN_INS_MAX) {
    statuses.push((await begin()).status);
  }
  // The tests before this one have begun some as well.
  expect(statuses.length).toBeGreaterThan(SIGN_INS_MAX / 3);
  expect(statuses.at(-1)).toBe(429);
  expect(statuses.slice(0, -1).every((status) => status < 400)).toBe(true);
});
