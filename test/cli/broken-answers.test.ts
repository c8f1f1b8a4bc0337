import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { runHere } from './use-cli.ts';

/** A node that dies in the middle of a long answer. */
async function startDyingNode(text: string): Promise<string> {
  const port = await findFreePort();
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' });
    response.write(text, () => response.destroy());
  });
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
    expect(err).toBe(
      `tollgate: the answer of ${url} broke off: what was printed is not all of it\n`,
    );
  }
});
