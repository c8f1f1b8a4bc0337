import { afterAll, expect, it, onTestFinished } from 'vitest';
import { startOidcProvider } from '../../support/oidc/start-oidc-provider.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { createVisitor, startOidcNode } from './use-oidc-node.ts';

const SESSION = 'tollgate-session';
const REDIRECT_URL = 'https://gateway.example/oidc/callback';

afterAll(stopRedisServers);

it('behind HTTPS cookies are secure, and none that was set without HTTPS counts', async () => {
  const provider = await startOidcProvider([REDIRECT_URL], onTestFinished);
  provider.person = { sub: 'u-1', name: 'Ada', groups: ['staff'] };
  const opsPort = await findFreePort();
  const node = await startOidcNode({
    ...{ issuer: provider.issuer, redirectUrl: REDIRECT_URL, opsPort },
    cleanUp: onTestFinished,
  });
  const visitor = createVisitor(node);
  const begun = await visitor.visit(`${node.opsUrl}/oidc/sign-in`);
  const secure =
    /^__Host-tollgate-[a-z-]+=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; /;
  expect(begun.headers.getSetCookie()).toEqual([expect.stringMatching(secure)]);
  const back = await visitor.begin();
  expect(back).toContain(REDIRECT_URL);
  // The proxy in front ends TLS here.
  const { status, headers } = await visitor.visit(
    back.replace('https://gateway.example', node.opsUrl),
  );
  expect(status).toBe(303);
  expect(headers.getSetCookie()[0]).toMatch(secure);
  expect((await visitor.me()).status).toBe(200);
  const value = visitor.cookies.get(`__Host-${SESSION}`) ?? '';
  visitor.cookies.delete(`__Host-${SESSION}`);
  visitor.cookies.set(SESSION, value);
  expect((await visitor.me()).status).toBe(401);
});
