import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ageTickets } from '../../support/age-tickets.ts';
import { admin } from '../../support/clients/admin.ts';
import {
  OIDC_CLIENT,
  type OidcProvider,
  startOidcProvider,
} from '../../support/oidc/start-oidc-provider.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { useBrowser } from '../../support/servers/start-browser.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createVisitor, startOidcNode } from './use-oidc-node.ts';

const SESSION = 'tollgate-session';
const HOUR_MS = 3_600_000;
afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let provider: OidcProvider;
let node: Gateway;
let other: Gateway;
let redis: TestRedisServer;
const openTab = useBrowser();

beforeAll(async () => {
  redis = await startRedisServer();
  const [opsPort, otherPort] = [await findFreePort(), await findFreePort()];
  const redirectUrl = `http://127.0.0.1:${opsPort}/oidc/callback`;
  provider = await startOidcProvider([redirectUrl], cleanUp);
  const shared = { issuer: provider.issuer, redirectUrl, redisPort: redis.port, cleanUp };
  node = await startOidcNode({ ...shared, opsPort });
  other = await startOidcNode({ ...shared, opsPort: otherPort });
});
beforeEach(() => {
  provider.person = { sub: 'u-1', name: 'Ada', groups: ['staff', 'finance'] };
});

it('somebody signs in with an account in a browser, is known on every node, and signs out', async () => {
  const { page, errors } = await openTab();
  await page.goto(`${node.opsUrl}/#/operators`);
  await page.getByRole('link', { name: 'Sign in with your account' }).click();
  await page.getByText('Ada (billing)').waitFor();
  await page.getByRole('heading', { name: 'Operators', level: 1 }).waitFor();
  await page.getByRole('table', { name: 'Signed in with an account' }).getByText('u-1').waitFor();
  expect(await page.getByRole('button', { name: 'Create an operator' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Playground' }).count()).toBe(0);
  expect(await page.evaluate('document.cookie')).toBe('');
  await page.goto(`${other.opsUrl}/#/accounts`);
  await page.getByText('Ada (billing)').waitFor();
  await page.getByRole('button', { name: 'Create an account' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Acme');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'Top up' }).waitFor();
  expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('link', { name: 'Sign in with your account' }).waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'Sign in with your account' }).waitFor();
  // The books are a file of the first node, so the second one refers to it.
  expect(errors.filter((error) => !error.includes('409'))).toEqual([]);
  const { data } = await admin(node).call<{ data: { what: string; who: object }[] }>(
    'GET',
    '/audit?limit=10',
  );
  const operator = { id: 'u-1', name: 'Ada' };
  for (const what of ['operator.sign_in', 'account.create', 'operator.sign_out']) {
    expect(data.find((entry) => entry.what === what)?.who).toMatchObject({ operator });
  }
});

it('work on a page survives the way to the provider, which another tab goes', async () => {
  const account = await admin(node).createAccount();
  const { page } = await openTab();
  await page.goto(`${node.opsUrl}/#/accounts/${account}`);
  await page.getByRole('link', { name: 'Sign in with your account' }).click();
  await page.getByRole('button', { name: 'Top up' }).click();
  const note = page.getByLabel('Note');
  await note.fill('half typed');

  const second = await page.context().newPage();
  await second.goto(node.opsUrl);
  await second.getByRole('button', { name: 'Sign out' }).click();
  await second.getByRole('link', { name: 'Sign in with your account' }).waitFor();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByText('a page loaded anew has lost what is not saved').waitFor();
  const opening = page.waitForEvent('popup');
  await again.getByRole('link', { name: 'Sign in with your account' }).click();
  const provider = await opening;
  await provider.getByText('Ada (billing)').waitFor();
  // Chromium without a screen has the focus in every page.
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await again.waitFor({ state: 'detached' });
  expect(await note.inputValue()).toBe('half typed');
});

it('a page does not go on as somebody else who signs in in another tab', async () => {
  const account = await admin(node).createAccount({ credits: 0 });
  const { page } = await openTab();
  await page.goto(`${node.opsUrl}/#/accounts/${account}`);
  await page.getByRole('link', { name: 'Sign in with your account' }).click();
  await page.getByText('Ada (billing)').waitFor();
  await page.getByRole('button', { name: 'Top up' }).click();
  await page.getByLabel('Credits', { exact: true }).fill('5');

  // The payment is the first that the node hears of this page again.
  const isCall = (url: URL) => url.pathname.startsWith('/admin/v1/');
  await page.route(isCall, (route) =>
    route.request().method() === 'GET' ? route.abort() : route.fallback(),
  );
  // The provider has to ask again who it is.
  await page.context().clearCookies({ name: /^_/ });
  provider.person = { sub: 'ü-2', name: 'Bob', groups: ['finance'] };
  const second = await page.context().newPage();
  await second.goto(`${node.opsUrl}/oidc/sign-in`);
  await second.getByText('Bob (billing)').waitFor();
  await page.getByRole('button', { name: 'Enter payment' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByRole('link', { name: 'Sign in with your account' }).waitFor();
  await page.getByText('You were signed out: somebody else has signed in').waitFor();
  const { balance } = await admin(node).call<{ balance: number }>('GET', `/accounts/${account}`);
  expect(balance).toBe(0);
  await page.unroute(isCall);
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await page.getByText('Bob (billing)').waitFor();
  expect(await page.getByLabel('Credits', { exact: true }).count()).toBe(0);
});

it('a sign-out ends only the session of whom its page shows', async () => {
  const visitor = createVisitor(node);
  await visitor.signIn();
  const shown = (id: string) => ({ 'x-tollgate-session': '1', 'x-tollgate-operator': id });
  expect((await visitor.post('/oidc/sign-out', shown('u-2'))).status).toBe(409);
  expect((await visitor.me()).status).toBe(200);
  expect((await visitor.post('/oidc/sign-out', shown('u-1'))).status).toBe(200);
});

it('the cookie is for this host only, hidden from scripts, and new with each sign-in', async () => {
  const visitor = createVisitor(node);
  visitor.cookies.set(SESSION, 'x'.repeat(43));
  const { status, headers } = await visitor.signIn();
  expect([status, headers.get('location')]).toEqual([303, '/']);
  const [set = ''] = headers.getSetCookie();
  expect(set).toMatch(
    /^tollgate-session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=28800$/,
  );
  const first = visitor.cookies.get(SESSION);
  expect(first).not.toBe('x'.repeat(43));
  expect((await visitor.me()).status).toBe(200);
  await visitor.signIn();
  const second = visitor.cookies.get(SESSION);
  expect(second).not.toBe(first);
  expect((await visitor.me()).status).toBe(200);
  visitor.cookies.set(SESSION, first ?? '');
  for (const { opsUrl } of [node, other]) expect((await visitor.me(opsUrl)).status).toBe(401);
  // The sign-in ended the session before it.
  const { data } = await admin(node).call<{ data: { what: string }[] }>('GET', '/audit?limit=2');
  expect(data.map(({ what }) => what)).toEqual(['operator.sign_in', 'operator.sign_out']);
});

it('a role is the highest that a value of the claim gives; without one a page says so', async () => {
  const visitor = createVisitor(node);
  provider.person = { sub: 'u-2', name: '<b>Bob</b>', groups: ['cooks'] };
  const { status, text, headers } = await visitor.signIn();
  expect(status).toBe(403);
  expect(text).toContain('has no role here');
  expect(text).not.toContain('<b>');
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(visitor.cookies.has(SESSION)).toBe(false);
});

it('a sign-in ends once, in the browser that began it, with its own state and code', async () => {
  const victim = createVisitor(node);
  const back = await victim.begin();
  const stranger = createVisitor(node);
  expect((await stranger.visit(back)).status).toBe(400);
  const own = await stranger.begin();
  const stolen = new URL(own);
  stolen.searchParams.set('code', new URL(back).searchParams.get('code') ?? '');
  const injected = await stranger.visit(stolen.href);
  expect([injected.status, injected.text]).toEqual([400, expect.stringContaining('invalid_grant')]);
  expect(stranger.cookies.has(SESSION)).toBe(false);

  const forged = createVisitor(node);
  const wrong = new URL(await forged.begin());
  wrong.searchParams.set('state', 'another');
  expect((await forged.visit(wrong.href)).status).toBe(400);
  const replayed = createVisitor(node);
  const used = await replayed.begin();
  const elsewhere = used.replace(node.opsUrl, other.opsUrl);
  expect((await replayed.visit(elsewhere)).status).toBe(303);
  expect((await replayed.visit(used)).status).toBe(400);
  expect((await replayed.me()).status).toBe(200);
});

it('a sign-in leads to the dashboard, whatever its address says', async () => {
  const visitor = createVisitor(node);
  const query = '?return_to=https://evil.example&redirect_uri=https://evil.example&next=//evil';
  const back = await visitor.begin(query);
  expect(new URL(back).origin).toBe(node.opsUrl);
  const { headers } = await visitor.visit(`${back}&next=https://evil.example`);
  expect(headers.get('location')).toBe('/');
});

it('a session counts only for pages of the dashboard, and changes only what its role may', async () => {
  provider.person = { sub: 'u-3', name: 'Vera', groups: ['staff'] };
  const visitor = createVisitor(node);
  await visitor.signIn();
  const own = { 'x-tollgate-session': '1' };
  for (const headers of [
    {},
    { ...own, origin: 'https://evil.example' },
    { ...own, origin: 'null' },
    { ...own, 'sec-fetch-site': 'cross-site' },
    { ...own, 'sec-fetch-site': 'same-site' },
  ]) {
    expect((await visitor.post('/admin/v1/accounts', headers)).status).toBe(401);
    expect((await visitor.post('/oidc/sign-out', headers)).status).toBe(403);
  }
  expect((await visitor.post('/admin/v1/accounts')).status).toBe(403);
  expect((await visitor.post('/admin/v1/playground')).status).toBe(403);
  expect((await visitor.post('/admin/v1/reload')).status).toBe(403);
  expect((await visitor.me()).status).toBe(200);
  const asked = await fetch(`${node.opsUrl}/admin/v1/accounts`, { method: 'OPTIONS' });
  expect(asked.headers.get('access-control-allow-origin')).toBeNull();
});

it('a session that was revoked or left is refused on every node', async () => {
  const visitor = createVisitor(node);
  await visitor.signIn();
  for (const { opsUrl } of [node, other]) expect((await visitor.me(opsUrl)).status).toBe(200);
  const { sessions } = await admin(node).call<{ sessions: { id: string; subject: string }[] }>(
    'GET',
    '/operators',
  );
  for (const { id } of sessions) await admin(node).call('POST', `/operators/${id}/revoke`);
  expect((await visitor.me()).status).toBe(401);
  const isRefused = async () => (await visitor.me(other.opsUrl)).status === 401;
  await waitUntil(isRefused, 'the other node heard');

  const leaving = createVisitor(node);
  await leaving.signIn();
  const kept = leaving.cookies.get(SESSION) ?? '';
  expect((await leaving.post('/oidc/sign-out')).status).toBe(200);
  expect(leaving.cookies.has(SESSION)).toBe(false);
  leaving.cookies.set(SESSION, kept);
  expect((await leaving.me()).status).toBe(401);
});

it('a session ends by time, and so do the events that it reads', async () => {
  const visitor = createVisitor(node);
  await visitor.signIn();
  let isOver = false;
  const cookie = `${SESSION}=${visitor.cookies.get(SESSION)}`;
  const events = await fetch(`${node.opsUrl}/admin/v1/events`, {
    headers: { cookie, 'x-tollgate-session': '1' },
  });
  expect(events.status).toBe(200);
  void events
    .text()
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  await ageTickets(redis, 'gw:{o}:sessions', HOUR_MS);
  await waitUntil(() => isOver, 'the events end');
  for (const { opsUrl } of [node, other]) {
    await waitUntil(async () => (await visitor.me(opsUrl)).status === 401, 'the session has ended');
  }
});

it('no page of the sign-in and of the dashboard can be put into a frame', async () => {
  for (const path of ['/', '/oidc/sign-in', '/oidc/callback?code=c&state=s']) {
    const { headers } = await createVisitor(node).visit(`${node.opsUrl}${path}`);
    expect(headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options'), path).toBe('DENY');
  }
});

it('no log line has a code, a cookie or the secret of the client', async () => {
  const visitor = createVisitor(node);
  const back = await visitor.begin();
  await visitor.visit(back);
  const secrets = [new URL(back).searchParams.get('code') ?? '', OIDC_CLIENT.secret];
  secrets.push(visitor.cookies.get(SESSION) ?? '');
  // Then nothing more is to be written.
  for (const each of [node, other]) each.signal('SIGTERM');
  expect(await Promise.all([node, other].map((each) => each.waitForExit()))).toEqual([0, 0]);
  const written = node.stderr() + other.stderr();
  expect(written).toContain('worker listens');
  expect(secrets.filter((secret) => secret === '' || written.includes(secret))).toEqual([]);
});
