import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { runHere } from './use-cli.ts';

/** A node that dies in the middle of a long answer. */
const startDyingNode = (text: string) =>
  startNode((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' });
    response.write(text, () => response.destroy());
  });

async function startNode(answer: RequestListener): Promise<string> {
  const port = await findFreePort();
  const server = createServer(answer);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${port}`;
}

it('a command whose node dies prints the whole lines that came, says so and fails', async () => {
  const url = await startDyingNode('account,charged\nacct_1,2\nacct_2,3');
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  for (const args of [
    ['usage', '--by', 'account', '--csv'],
    ['statement', 'acct_1', '--month', '2026-11', '--csv'],
  ]) {
    const { code, out, err } = await runHere(env, ...args);
    expect([code, out], args[0]).toEqual([1, 'account,charged\nacct_1,2\n']);
    expect(err).toBe(`tollgate: the response of ${url} was cut off: the output is incomplete\n`);
  }
});

it('an account whose node dies while it enters the credits is told with a payment that enters them once', async () => {
  const paths: string[] = [];
  const url = await startNode((request, response) => {
    paths.push(request.url ?? '');
    if (request.url?.endsWith('/credits')) response.destroy();
    else response.end(JSON.stringify({ id: 'acct_1', limits: [] }));
  });
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  const create = ['account', 'create', '--name', 'Acme', '--plan', 'pro', '--credits', '2.5'];
  const { code, err } = await runHere(env, ...create);
  expect([code, paths]).toEqual([1, ['/admin/v1/accounts', '/admin/v1/accounts/acct_1/credits']]);
  expect(err).toMatch(
    /^tollgate: acct_1 was created; whether it has its credits is not known: `tollgate credits add --account acct_1 --amount 2.5 --id [\w-]{36}` enters them once\n/,
  );
});

it('an account with credits is printed without asking the node again', async () => {
  const paths: string[] = [];
  const account = { id: 'acct_1', name: 'Acme', plan: 'pro', status: 'active', limits: [] };
  const details = { ...account, held: 0, created_at: '2026-11-20T00:00:00.000Z', balance: 0 };
  const url = await startNode((request, response) => {
    paths.push(`${request.method} ${request.url}`);
    const isPayment = request.url?.endsWith('/credits') === true;
    response.end(JSON.stringify(isPayment ? { balance: 2.5 } : details));
  });
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  const create = ['account', 'create', '--name', 'Acme', '--plan', 'pro', '--credits', '2.5'];
  const { code, out } = await runHere(env, ...create, '--json');
  expect([code, JSON.parse(out)]).toEqual([0, { ...details, balance: 2.5 }]);
  expect(paths).toEqual(['POST /admin/v1/accounts', 'POST /admin/v1/accounts/acct_1/credits']);
});

it('an account whose credits are refused is told without them', async () => {
  const url = await startNode((request, response) => {
    const isRefused = request.url?.endsWith('/credits') === true;
    response.statusCode = isRefused ? 422 : 200;
    const error = { code: 'invalid', message: 'no' };
    response.end(JSON.stringify(isRefused ? { error } : { id: 'acct_1', limits: [] }));
  });
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  const create = ['account', 'create', '--name', 'Acme', '--plan', 'pro', '--credits'];
  expect(await runHere(env, ...create, '2')).toEqual({
    ...{ code: 1, out: '', err: 'tollgate: acct_1 was created without credits\ntollgate: no\n' },
  });
  for (const amount of ['0', '-1']) {
    expect((await runHere(env, ...create, amount)).err).toContain('It must be more than 0.');
  }
});

it('two formats at once are refused', async () => {
  const statement = ['statement', 'acct_1', '--month', '2026-11'];
  for (const args of [
    ['usage', '--csv', '--json'],
    [...statement, '--csv', '--json'],
    [...statement, '--html', '--json'],
    [...statement, '--csv', '--html'],
  ]) {
    const { code, err } = await runHere({}, ...args);
    expect([code, err.includes('cannot be used with option')], args.join(' ')).toEqual([2, true]);
  }
});

it('a day that no month has is refused', async () => {
  const url = await startNode((_request, response) => response.end('{"data":[],"next":null}'));
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  for (const day of ['2027-02-30', '2027-02-29T12:00:00Z', '2027-04-31T00:00:00+02:00']) {
    expect((await runHere(env, 'audit', 'export', '--to', day)).err).toContain('It must be a time');
  }
  expect((await runHere(env, 'audit', 'export', '--to', '2028-02-29T23:00:00-08:00')).code).toBe(0);
});

it('a revoked token of an operator is told as such', async () => {
  const error = { code: 'unauthorized', message: 'the token is wrong or revoked' };
  const url = await startNode((_request, response) => {
    response.writeHead(401).end(JSON.stringify({ error }));
  });
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  const { err } = await runHere(env, 'account', 'list');
  expect(err).toContain(`the token is wrong or revoked for ${url}: `);
});

it('a reload of all nodes whose node dies after its first sign of life is said to be in doubt', async () => {
  const url = await startDyingNode('\n');
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  expect(await runHere(env, 'reload', '--all')).toEqual({
    ...{ code: 1, out: '' },
    err: `tollgate: the response of ${url} was cut off: the request may or may not have been carried out\n`,
  });
});

it('a command that only reads says nothing of what may have taken place', async () => {
  const url = await startDyingNode('{');
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  expect(await runHere(env, 'key', 'show', 'key_1')).toEqual({
    ...{ code: 1, out: '', err: `tollgate: the response of ${url} was cut off\n` },
  });
});

it('a rotation whose answer is lost says how to tell whether it took place', async () => {
  const url = await startNode((request, response) => {
    if (request.method === 'POST') response.destroy();
    else response.end(JSON.stringify({ id: 'key_1', rotated_at: '2026-11-20T00:00:00.000Z' }));
  });
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  const { code, err } = await runHere(env, 'key', 'rotate', 'key_1');
  expect(code).toBe(1);
  expect(err).toContain(
    '`rotated` of key_1 was 2026-11-20T00:00:00.000Z before: if `tollgate key show key_1` says otherwise now, its new secret is lost, and rotating again ends the one in use at once\n',
  );
});

it('an order whose node dies before its answer is said to be in doubt', async () => {
  const url = await startNode((request, response) => {
    request.resume().once('end', () => response.destroy());
  });
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  const { code, err } = await runHere(env, 'key', 'create', '--account', 'acct_1');
  expect(code).toBe(1);
  expect(err).toContain(`the node at ${url} gave no answer`);
  expect(err).toContain(': the request may or may not have been carried out\n');
});

it('a node that is not there is said to be out of reach', async () => {
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  const { err } = await runHere(env, 'key', 'create', '--account', 'acct_1');
  expect(err).toContain(`cannot reach the node at ${url}: is it running?`);
});

it('a command goes nowhere else than it is told, and says where the address leads', async () => {
  const paths: string[] = [];
  const url = await startNode((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(301, { location: `${url}/elsewhere` }).end();
  });
  const env = { TOLLGATE_ADMIN_URL: url, TOLLGATE_ADMIN_TOKEN: 'token' };
  for (const args of [['key', 'create', '--account', 'acct_1'], ['events']]) {
    const { code, err } = await runHere(env, ...args);
    expect(code, args[0]).toBe(1);
    expect(err, args[0]).toContain(`it leads to ${url}/elsewhere: `);
  }
  expect(paths).not.toContain('/elsewhere');
});
