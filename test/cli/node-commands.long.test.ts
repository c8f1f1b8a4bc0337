import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, HAIKU, messageOf, openStream } from '../support/clients/ask-model.ts';
import { readAdminToken } from '../support/servers/start-browser.ts';
import { useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';
import { runHere } from './use-cli.ts';

const settingsOf = (output: number) => `
workers: 1
upstreams:
  - {name: fine, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}
models:
  - {id: ${HAIKU}, aliases: [haiku], max_output_tokens: 8000, price: {input: 0, output: ${output}}, routes: [{upstream: fine, weight: 3}]}
`;

const node = useGateway({ config: settingsOf(5) });

function useCommands() {
  const gateway = node();
  const env = {
    TOLLGATE_ADMIN_URL: gateway.opsUrl,
    TOLLGATE_ADMIN_TOKEN: readAdminToken(gateway),
  };
  const run = (...args: string[]) => runHere(env, ...args);
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);
  return { gateway, env, run, json, operator: admin(gateway) };
}

// It goes before the reloads: the receipt names the settings of the start.
it('tollgate request shows the receipt of a request that runs, and of one that has ended', async () => {
  const { gateway, run, json, operator } = useCommands();
  const account = await operator.createAccount();
  const { key, id } = await operator.createKey(account);
  const answer = await askModel(gateway.url, key, messageOf('[[tokens 50]]'));
  await operator.waitUntilSettled(account);
  const requestId = answer.headers.get('request-id') ?? '';
  const { code, out, err } = await run('requests', 'show', requestId);
  expect([code, err]).toEqual([0, '']);
  for (const line of [
    `request +${requestId}`,
    'state +ended',
    `account +${account}`,
    `key +${id}`,
    `model +${HAIKU}`,
    'charged +0\\.00025',
    'usage +\\d+ tokens in, 0 read from the cache, 0 written to it, 50 out',
    'price +0 in, 5 out, per million tokens',
    'asked +native, whole, \\d+ bytes, at most \\d+ tokens out',
    'answered +200, complete, by fine',
    'tries +fine: ok',
    'times +began 2\\S+Z, .*took [\\d.]+ ms, .*',
    'settings +[0-9a-f]{12}-1',
  ]) {
    expect(out).toMatch(new RegExp(`^${line}$`, 'm'));
  }
  expect(await json('requests', 'show', requestId)).toMatchObject({
    id: requestId,
    charged: 0.00025,
  });

  const stream = await openStream(gateway.url, key, messageOf('[[slow 60000]]'));
  const running = await run('requests', 'show', stream.requestId ?? '');
  expect([running.code, running.err]).toEqual([0, '']);
  expect(running.out).toMatch(/^state +running$/m);
  expect(running.out).toMatch(/^held +0\.\d+$/m);
  stream.leave();

  const unknown = await run('requests', 'show', 'req_unknown');
  expect([unknown.code, unknown.out]).toEqual([1, '']);
  expect(unknown.err).toContain('the ledger has no such request');
});

it('tollgate models, reload and audit: a new price takes over, and is told from what to what', async () => {
  const { gateway, run, json } = useCommands();
  const models = await run('models');
  expect([models.code, models.err]).toEqual([0, '']);
  expect(models.out).toMatch(/^ID +ALIASES +WINDOW .* INPUT +OUTPUT +CACHE READ .* ROUTES$/m);
  expect(models.out).toMatch(
    new RegExp(`^${HAIKU} +haiku +200000 +- +8000 +0 +5 .* fine \\(priority 1, weight 3\\)$`, 'm'),
  );
  expect(await json('models')).toMatchObject([{ id: HAIKU, price: { output: 5 } }]);

  gateway.setConfig(settingsOf(6));
  const reloaded = await run('reload');
  expect([reloaded.code, reloaded.err]).toEqual([0, '']);
  expect(reloaded.out).toMatch(/^reloaded: settings [0-9a-f]{12}-2\n$/);
  expect(await json('models')).toMatchObject([{ price: { output: 6 } }]);
  const audit = await run('audit');
  expect(audit.out).toMatch(
    new RegExp(`node\\.reload .* cli .* models\\[${HAIKU}\\]\\.price\\.output: 5 → 6$`, 'm'),
  );
  const [entry] = await json('audit');
  expect(entry.changes).toContainEqual({
    field: `models[${HAIKU}].price.output`,
    ...{ before: 5, after: 6 },
  });
  expect(await json('reload')).toMatchObject({ status: 'reloaded', needs_restart: [] });
});

it('tollgate reload names every problem of wrong settings, changes nothing and fails', async () => {
  const { gateway, run } = useCommands();
  gateway.setConfig(`${settingsOf(6)}workers: many\nlisen: 1\n`);
  const refused = await run('reload');
  expect([refused.code, refused.out]).toEqual([1, '']);
  expect(refused.err).toContain('tollgate: nothing was changed');
  expect(refused.err).toMatch(/\n\S+tollgate\.yaml:\d+: lisen: unknown key/);
  const asJson = await run('reload', '--json');
  expect([asJson.code, asJson.err]).toEqual([1, '']);
  expect(JSON.parse(asJson.out)).toMatchObject({
    ...{ status: 'refused', needs_restart: [] },
    problems: expect.arrayContaining([expect.stringContaining('lisen: unknown key')]),
  });
  gateway.setConfig(`${settingsOf(5)}redis: {url: "redis://127.0.0.1:1/0"}\n`);
  const fixed = JSON.parse((await run('reload', '--json')).out);
  expect(fixed).toMatchObject({ needs_restart: ['redis.url'] });
  const away = await run('reload', '--url', 'http://127.0.0.1:1', '--json');
  expect([away.code, away.out]).toEqual([1, '']);
  expect(away.err).toContain('cannot reach the node');
});

it('tollgate key revoke asks on a terminal, and takes nothing but yes for yes', async () => {
  const { env, operator } = useCommands();
  const account = await operator.createAccount();
  const { id, key } = await operator.createKey(account, { name: 'build server' });
  /** Gives the program its own terminal and types into it when it asks. */
  const revoke = async (typed: string, ...more: string[]) => {
    const command = [process.execPath, 'dist/src/main.js', 'key', 'revoke', id, ...more].join(' ');
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'close');
    let output = '';
    child.stdout.on('data', (data) => {
      output += String(data);
    });
    if (typed !== '') {
      await waitUntil(() => output.includes('[y/N]'), 'it asks');
      child.stdin.write(typed);
    }
    const [code] = await exited;
    return { code, output };
  };
  const statusOf = async () => (await operator.key(id)).status;

  for (const no of ['\n', 'n\n', 'yesterday\n', '\u0003', '\u0004']) {
    const { code, output } = await revoke(no);
    expect(code, JSON.stringify(no)).toBe(1);
    expect(output).toContain(`Revoke build server (…${key.slice(-4)}) of ${account}?`);
    expect(output).toContain(`tollgate: ${id} was not revoked`);
    expect(await statusOf()).toBe('active');
  }
  expect((await revoke('y\n')).code).toBe(0);
  expect(await statusOf()).toBe('revoked');
  const again = await revoke('', '--yes');
  expect(again.code).toBe(0);
  expect(again.output).not.toContain('[y/N]');
});
