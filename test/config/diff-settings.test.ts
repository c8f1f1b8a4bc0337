import { expect, it } from 'vitest';
import { CHANGES_MAX, diffSettings, VALUE_CHARS_MAX } from '../../src/config/diff-settings.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { SECRET_SETTINGS } from '../../src/config/source/secret-settings.ts';

const parse = (text: string) => parseConfig({ path: 't.yaml', text, env: {} });
const diff = (before: string, after: string) => diffSettings(parse(before), parse(after));

const model = (id: string, price: string) =>
  `  - {id: ${id}, max_output_tokens: 8000, price: {${price}}, routes: [{upstream: main}]}\n`;
const settings = (models: string, apiKey = 'secret-1', more = '') =>
  `upstreams: [{name: main, kind: native, url: "https://x.example", api_key: ${apiKey}, headers: {x-team: ${apiKey}}}]\n` +
  `models:\n${models}${more}`;
const HAIKU = model('haiku', 'input: 1, output: 5, cache_read: 0.1');

it('settings that are the same have no difference, also in another order', () => {
  expect(diff('workers: 2', 'workers: 2')).toEqual({ before: {}, after: {} });
  const other = model('opus', 'input: 5, output: 25');
  expect(diff(settings(HAIKU + other), settings(other + HAIKU))).toEqual({ before: {}, after: {} });
});

it('a price is named with its model, from what to what, whatever place the model has', () => {
  const next = model('haiku', 'input: 1, output: 6, cache_read: 0.1');
  const changed = diff(settings(HAIKU, 's', 'workers: 1'), settings(next, 's', 'workers: 2'));
  expect(changed).toEqual({
    before: { workers: 1, 'models[haiku].price.output': 5 },
    after: { workers: 2, 'models[haiku].price.output': 6 },
  });
});

it('a model that came or went is told as a whole', () => {
  const fresh = model('fresh', 'input: 2, output: 3');
  const { before, after } = diff(settings(HAIKU), settings(HAIKU + fresh));
  expect(before).toEqual({});
  expect(after).toMatchObject({ 'models[fresh]': { price: { input: 2, output: 3 } } });
  expect(diff(settings(HAIKU + fresh), settings(HAIKU)).after).toEqual({});
});

it('of a secret it says that it is another one, and nothing else', () => {
  const changed = diff(settings(HAIKU, 'secret-1'), settings(HAIKU, 'secret-2'));
  expect(changed.after).toEqual({
    'upstreams[main].api_key': 'another secret',
    'upstreams[main].headers.x-team': 'another secret',
  });
  expect(JSON.stringify(changed)).not.toMatch(/secret-\d/);
  const traced = diff(
    'workers: 1',
    'workers: 1\ntracing: {endpoint: "http://x:4318", headers: {a: secret-3}}',
  );
  expect(JSON.stringify(traced)).toContain('*****');
  expect(JSON.stringify(traced)).not.toContain('secret-3');
});

it('of every setting that has a secret it tells another one, except of URLs', () => {
  const all = (secret: string) => `ops:
  admin_token: ${secret}
  oidc:
    issuer: https://login.example
    client_id: a
    client_secret: ${secret}
    redirect_url: https://x.example/oidc/callback
    roles: {a: viewer}
books:
  archive: {s3: {endpoint: "https://s3", bucket: abc, access_key: ${secret}, secret_key: ${secret}}}
limits: {end_users: {secret: users-${secret}-is-long}}
reasoning_secrets: [first-${secret}-is-long, second-${secret}-is-long]
tracing: {endpoint: "http://x:4318/v1/traces", headers: {a: ${secret}}}
webhooks:
  hosts: [h.example]
  endpoints: [{name: w, url: "https://h.example", secrets: [whsec_${Buffer.from(secret.repeat(3)).toString('base64')}]}]
upstreams: [{name: u, kind: native, url: "https://x.example", api_key: ${secret}, headers: {b: ${secret}}}]
`;
  const { before, after } = diff(all('secret-1'), all('secret-2'));
  expect(Object.keys(after).toSorted()).toEqual(
    [
      ...['ops.admin_token', 'ops.oidc.client_secret'],
      ...['books.archive.s3.access_key', 'books.archive.s3.secret_key'],
      ...['limits.end_users.secret', 'reasoning_secrets[0]', 'reasoning_secrets[1]'],
      ...['tracing.headers.a', 'webhooks.endpoints[w].secrets[0]'],
      ...['upstreams[u].api_key', 'upstreams[u].headers.b'],
    ].toSorted(),
  );
  for (const pattern of SECRET_SETTINGS) {
    // They change with a restart only.
    if (['redis.url', 'books.url'].includes(pattern.join('.'))) continue;
    const steps = pattern.map((step) => (step === '*' ? '[\\w-]+' : step));
    const isTold = new RegExp(`^${steps.join('[.[\\]]+')}\\]?$`);
    expect(
      Object.keys(after).some((path) => isTold.test(path)),
      pattern.join('.'),
    ).toBe(true);
  }
  expect(JSON.stringify({ before, after })).not.toContain('secret-');
});

it('a file that is all new makes no entry without bounds', () => {
  const many = (price: number) =>
    Array.from({ length: 200 }, (_, n) => model(`model-${n}`, `input: ${price}, output: 1`)).join(
      '',
    );
  const { before, after } = diff(settings(many(1)), settings(many(2)));
  expect(Object.keys(before)).toHaveLength(CHANGES_MAX);
  expect(after['further_changes']).toBeGreaterThanOrEqual(200 - CHANGES_MAX);
  const aliases = Array.from(
    { length: 32 },
    (_, n) => `an-alias-with-a-name-that-is-long-${n}`,
  ).join(', ');
  const long = `  - {id: haiku, aliases: [${aliases}], max_output_tokens: 8000, price: {input: 1, output: 5}, routes: [{upstream: main}]}\n`;
  const cut = diff(settings(HAIKU), settings(long)).after['models[haiku].aliases'];
  expect(String(cut)).toHaveLength(VALUE_CHARS_MAX + 1);
});
