import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { scrape } from '../support/clients/scrape.ts';
import { readAdminToken } from '../support/servers/start-browser.ts';
import { FAST_UPSTREAM, useGateway } from '../support/use-gateway.ts';
import { runHere } from './use-cli.ts';

const MODEL = 'vendor/large-1.5';
const ALIAS = 'vendor/family/large';
const settings = (output: number) =>
  [
    `workers: 1\n${FAST_UPSTREAM}models:`,
    `  - {id: ${MODEL}, aliases: [${ALIAS}, "old/*"], max_output_tokens: 8000, price: {input: 0, output: ${output}}}`,
    '  - {id: plain, max_output_tokens: 8000, price: {input: 0, output: 1}}',
    '',
  ].join('\n');

const gateway = useGateway({ config: settings(10) });
let operator: ReturnType<typeof admin>;
beforeAll(() => {
  operator = admin(gateway());
});

function run(...args: string[]) {
  const env = {
    TOLLGATE_ADMIN_URL: gateway().opsUrl,
    TOLLGATE_ADMIN_TOKEN: readAdminToken(gateway()),
  };
  return runHere(env, ...args);
}

async function runJson<Shown>(...args: string[]): Promise<Shown> {
  const { code, out, err } = await run(...args, '--json');
  expect([code, err], args.join(' ')).toEqual([0, '']);
  return JSON.parse(out) as Shown;
}

interface KeyCreated {
  readonly id: string;
  readonly key: string;
  readonly models: readonly string[];
}

const ask = (key: string, model: string) =>
  askModel(gateway().url, key, messageOf('[[tokens 5]]', { model }));

describe('a model with slashes in its names', () => {
  it('is listed by tollgate models', async () => {
    const { out } = await run('models');
    expect(out).toMatch(new RegExp(`^${MODEL} +${ALIAS},old/\\* +200000 `, 'm'));
    expect(await runJson('models')).toMatchObject([{ id: MODEL }, { id: 'plain' }]);
  });

  it.each([
    [MODEL, MODEL],
    [ALIAS, ALIAS],
    // The key keeps the id of the model that the pattern resolves to.
    ['old/one', MODEL],
  ])('may be the only one of a key, as %s', async (name, kept) => {
    const account = await operator.createAccount();
    const args = ['--account', account, '--models', name];
    const { id, key, models } = await runJson<KeyCreated>('key', 'create', ...args);
    expect(models).toEqual([kept]);
    expect((await ask(key, name)).status).toBe(200);
    expect((await ask(key, 'plain')).status).toBe(403);

    await runJson('key', 'set', id, '--models', `plain,${MODEL}`);
    expect(await operator.key(id)).toMatchObject({ models: ['plain', MODEL] });
    expect((await ask(key, 'plain')).status).toBe(200);
    expect((await run('key', 'show', id)).out).toContain(`plain,${MODEL}`);
  });

  it.each(['vendor/larg-1.5', 'vendor', 'vendor/', '/large'])(
    'is none of a key as %s',
    async (name) => {
      const account = await operator.createAccount();
      const refused = await run('key', 'create', '--account', account, '--models', name);
      expect(refused.code).not.toBe(0);
      expect(refused.err).toContain(name);
    },
  );

  it('is found at /v1/models with its slashes as they are and encoded, for a key that may use it', async () => {
    const account = await operator.createAccount();
    const { key } = await operator.createKey(account, { models: [MODEL] });
    const find = async (path: string, of = key) => {
      const response = await fetch(`${gateway().url}/v1/models/${path}`, {
        headers: { 'x-api-key': of },
      });
      return [response.status, ((await response.json()) as { id?: string }).id];
    };
    for (const name of [MODEL, ALIAS]) {
      const encoded = encodeURIComponent(name);
      for (const path of [name, encoded, encoded.toLowerCase(), name.replace('/', '%2f')]) {
        expect(await find(path), path).toEqual([200, name]);
      }
    }
    const other = await operator.createKey(account, { models: ['plain'] });
    expect(await find(MODEL, other.key)).toEqual([404, undefined]);
    expect(await find('vendor')).toEqual([404, undefined]);
  });

  it('divides the pages of /v1/models', async () => {
    const list = async (query: string) => {
      const response = await fetch(`${gateway().url}/v1/models?${query}`, {
        headers: { 'x-api-key': gateway().key() },
      });
      return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    const all = await list('');
    expect(all).toEqual(expect.arrayContaining([MODEL, ALIAS, 'plain']));
    for (const id of [MODEL, encodeURIComponent(MODEL)]) {
      expect(await list(`after_id=${id}`)).toEqual(all.slice(all.indexOf(MODEL) + 1));
    }
  });

  it('is told in usage, receipts and metrics by its id', async () => {
    const account = await operator.createAccount();
    const { key } = await operator.createKey(account);
    const answer = await ask(key, ALIAS);
    await operator.waitUntilSettled(account);
    await operator.waitForBooks();
    const usage = await run('usage', '--account', account, '--by', 'model');
    expect(usage.out).toMatch(new RegExp(`^${MODEL} +1 `, 'm'));
    const receipt = await run('requests', 'show', answer.headers.get('request-id') ?? '');
    expect(receipt.out).toContain(MODEL);
    const { sum } = await scrape(gateway());
    expect(sum('tollgate_requests_total', { model: MODEL })).toBeGreaterThan(0);
  });

  it('is named in the audit log when its price changes', async () => {
    gateway().setConfig(settings(20));
    expect((await run('reload')).code).toBe(0);
    expect((await run('audit')).out).toContain(`models[${MODEL}].price.output: 10 → 20`);
  });
});
