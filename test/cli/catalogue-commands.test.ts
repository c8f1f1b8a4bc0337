import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HAIKU } from '../support/clients/ask-model.ts';
import {
  operate,
  SETTINGS,
  startDurableRedis,
  startOn,
  withOutput,
} from '../support/clients/catalogue-scene.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { readAdminToken } from '../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { pipeProgram, runHere } from './use-cli.ts';

afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let node: Gateway;
beforeAll(async () => {
  node = await startOn(await startDurableRedis(), SETTINGS, cleanUp);
});

/** The commands, against this node. */
function command(node: Gateway) {
  const lineOf = (args: readonly string[]) =>
    [process.execPath, 'dist/src/main.js', 'catalogue', ...args].join(' ');
  const env = { TOLLGATE_ADMIN_URL: node.opsUrl, TOLLGATE_ADMIN_TOKEN: readAdminToken(node) };
  const run = (...args: string[]) => runHere(env, 'catalogue', ...args);
  return {
    ...operate(node),
    run,
    async runOk(...args: string[]) {
      const { code, out, err } = await run(...args);
      expect([code, err], args.join(' ')).toEqual([0, '']);
      return out;
    },
    /** What a command that fails says. */
    async refuse(...args: string[]) {
      const { code, out, err } = await run(...args);
      expect([code, out], args.join(' ')).toEqual([1, '']);
      return err;
    },
    /** What a terminal shows of a command whose question gets this answer. */
    answerAtTerminal(input: string, ...args: string[]): string {
      const options = {
        input: `${input}\n`,
        encoding: 'utf8' as const,
        env: { ...process.env, ...env },
      };
      return spawnSync('script', ['-qec', lineOf(args), '/dev/null'], options).stdout;
    },
    /** What a shell shows of commands that hand their output on, with others between them. */
    runPipeline(...commands: readonly (string | readonly string[])[]) {
      const lines = commands.map((part) => (typeof part === 'string' ? part : lineOf(part)));
      const options = { encoding: 'utf8' as const, env: { ...process.env, ...env } };
      return spawnSync('sh', ['-c', lines.join(' | ')], options);
    },
    /** The same as a child process, with this on its standard input. */
    pipe: (input: string, ...args: string[]) => pipeProgram(input, env, 'catalogue', ...args),
    file(text: string): string {
      const path = join(node.dataDir, 'edited.yaml');
      writeFileSync(path, text);
      return path;
    },
  };
}

it('what get prints is edited, compared, applied, listed and rolled back', async () => {
  const { run, runOk, refuse, answerAtTerminal, read, file } = command(node);
  const text = await runOk('get');
  const { catalogue } = await read();
  expect(parse(text)).toEqual({ version: 1, ...catalogue });

  expect(await runOk('diff', file(text))).toBe('nothing changes\n');
  expect(await runOk('apply', file(text))).toBe('nothing changes\n');
  const edited = file(text.replace('output: 1\n', 'output: 2.5\n'));
  const row = new RegExp(`^models\\[${HAIKU}\\]\\.price\\.output +1 +2\\.5$`, 'm');
  expect(await runOk('diff', edited)).toMatch(row);
  expect((await read()).version).toBe(1);
  const applied = await runOk('apply', edited, '--yes');
  expect(applied).toMatch(/^FIELD +BEFORE +AFTER$/m);
  expect(applied).toMatch(row);
  expect(applied).toMatch(/^version 2 holds from \d{4}-/m);

  const history = await runOk('history');
  expect(history).toMatch(/^VERSION +HOLDS FROM +APPLIED AT +KIND +BY +BACK TO$/m);
  expect(history).toMatch(/^2 .* apply +cli from \S+ +-$/m);
  expect(history).toMatch(/^1 .* seed +settings +-$/m);
  expect(await refuse('rollback', '1')).toBe('tollgate: nobody can be asked: use --yes\n');
  expect(answerAtTerminal('n', 'rollback', '1')).toMatch(
    /price\.output +2\.5 +1\s[\s\S]*Go back to/,
  );
  expect((await read()).version).toBe(2);
  expect(answerAtTerminal('y', 'rollback', '1')).toMatch(/version 3 holds at once/);
  expect((await read()).catalogue).toEqual(catalogue);
  expect(await runOk('history')).toMatch(/^3 .* rollback +cli from \S+ +1$/m);

  const unknown = await run('rollback', '77');
  expect(unknown.err).toBe('tollgate: version 77 is not kept, or never was\n');
  expect((await run('rollback', 'x')).code).not.toBe(0);
});

it('prints JSON for programs, and takes it back', async () => {
  const { runOk, read, pipe } = command(node);
  const answer = JSON.parse(await runOk('get', '--json'));
  const base = (await read()).version;
  expect(answer).toMatchObject({ rules: 'store', version: base, sold_version: base });
  const wanted = { ...answer, catalogue: withOutput(answer.catalogue, 7) };
  const tried = await pipe(JSON.stringify(wanted), 'diff', '-', '--json');
  const changes = [{ field: `models[${HAIKU}].price.output`, before: 1, after: 7 }];
  expect(JSON.parse(tried.out)).toMatchObject({ version: null, changes });
  expect(await pipe(JSON.stringify(wanted), 'apply', '-')).toEqual({
    ...{ code: 1, out: '', err: 'tollgate: nobody can be asked: use --yes\n' },
  });
  const applied = await pipe(JSON.stringify(wanted), 'apply', '-', '--yes', '--json');
  expect([applied.code, applied.err]).toEqual([0, '']);
  expect(JSON.parse(applied.out)).toMatchObject({ version: base + 1, changes });
  expect((await read()).catalogue).toEqual(wanted.catalogue);
  const history = JSON.parse(await runOk('history', '--json'));
  expect(history).toHaveLength(base + 1);
  expect(history[0]).toMatchObject({ version: base + 1, kind: 'apply', who: { via: 'cli' } });
  expect(history.at(-1)).toMatchObject({ version: 1, kind: 'seed', who: null });
  const back = JSON.parse(await runOk('rollback', '1', '--yes', '--json'));
  expect(back).toMatchObject({ version: base + 2 });
});

it('waits for an input that comes later, as in a pipeline', async () => {
  const { runPipeline, read } = command(node);
  const base = (await read()).version;
  const edit = "sed 's/output: 1$/output: 6/'";
  const tried = runPipeline(['get'], edit, ['diff', '-']);
  expect(tried).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/ 1 +6$/m) });
  const applied = runPipeline(['get'], edit, ['apply', '-', '--yes']);
  expect(applied).toMatchObject({ status: 0, stderr: '' });
  expect((await read()).version).toBe(base + 1);
  expect(runPipeline(['rollback', '1', '--yes'])).toMatchObject({ status: 0, stderr: '' });
});

it('a change from a time on waits, and no other may come before it', async () => {
  const { runOk, refuse, read, file } = command(node);
  const base = (await read()).version;
  const text = await runOk('get');
  const first = file(text.replace('output: 1\n', 'output: 3\n'));
  expect(await runOk('apply', first, '--yes', '--from', '2037-02-01')).toMatch(
    new RegExp(`^version ${base + 1} holds from 2037-02-01T00:00:00\\.000Z$`, 'm'),
  );
  expect(await read()).toMatchObject({ version: base + 1, sold_version: base });
  const next = file((await runOk('get')).replace('output: 3\n', 'output: 4\n'));
  expect(await refuse('apply', next, '--yes', '--from', '2037-01-31')).toMatch(
    new RegExp(
      `version ${base + 1} is to hold from 2037-02-01T00:00:00\\.000Z: .* a rollback withdraws it`,
    ),
  );
  await runOk('rollback', '1', '--yes');
  expect(await read()).toMatchObject({ version: base + 2, sold_version: base + 2 });
});

it('a file that is late, broken or wrong is refused with every reason', async () => {
  const { put, read, runOk, refuse, file } = command(node);
  const text = await runOk('get');
  const { version: base, catalogue } = await read();
  await put(base, withOutput(catalogue, 2));
  for (const verb of [['diff'], ['apply', '--yes']] as const) {
    expect(await refuse(...verb, file(text))).toBe(
      `tollgate: the catalogue was changed meanwhile: version ${base + 1} is the last one\n`,
    );
    expect(await refuse(...verb, file('plans: [\n'))).toMatch(
      /^tollgate: \S+edited\.yaml cannot be read: .* line \d+/,
    );
    expect(await refuse(...verb, file('just words'))).toMatch(/must have plans and models\n$/);
    expect(await refuse(...verb, '/nowhere.yaml')).toMatch(/^tollgate: \/nowhere\.yaml .*ENOENT/);
    const twice = {
      ...catalogue,
      models: [...catalogue.models, { ...catalogue.models[0], id: 'x', aliases: [HAIKU] }],
    };
    expect(await refuse(...verb, file(JSON.stringify(twice)))).toMatch(
      /^tollgate: nothing was changed.*\nmodels\[.\].*is already used as an id or alias/,
    );
    expect(await refuse(...verb, file('models: []\n'))).toMatch(/catalogue\.models: .+/);
  }
  expect((await read()).version).toBe(base + 1);
});

it('a file whose version is not one is refused before anything is asked', async () => {
  const env = { TOLLGATE_ADMIN_URL: 'http://127.0.0.1:1', TOLLGATE_ADMIN_TOKEN: 'token' };
  const path = join(createTempDir(), 'edited.yaml');
  for (const version of ['"7"', 'v7', '1.5', '0']) {
    writeFileSync(path, `version: ${version}\nplans: {}\nmodels: []\n`);
    const { code, err } = await runHere(env, 'catalogue', 'apply', path, '--yes');
    expect(code, version).toBe(1);
    expect(err, version).toContain('version: must be a whole number of 1 or more, not ');
  }
});

it('the catalogue of a settings file is printed, and cannot be changed', async () => {
  const other = await startGateway({ config: SETTINGS.replace('catalogue: store', '') });
  const { runOk, refuse, file } = command(other);
  const text = await runOk('get');
  expect(parse(text)).toEqual((await operate(other).read()).catalogue);
  for (const args of [['history'], ['rollback', '1'], ['diff', file(text)]]) {
    expect(await refuse(...args)).toMatch(/^tollgate: models and plans are in the settings file/);
  }
});
