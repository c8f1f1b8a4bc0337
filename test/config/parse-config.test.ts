import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';

const parse = (text: string, env: Record<string, string> = {}) =>
  parseConfig({ path: 't.yaml', text, env });

const FULL = `
listen: 0.0.0.0:8081            # or unix:/path
ops: {listen: 127.0.0.1:9401, admin_token: \${ADMIN_TOKEN}}
workers: 4
redis: {url: redis://127.0.0.1:6379/0}
books:
  url: postgres://me:\${MAIN_KEY}@db/tollgate
  connections: 20
  keep: 30d
  archive: {folder: /var/lib/archive}
  waiting_entries_max: 1000
data_dir: /var/lib/tollgate
log_level: warn
key_page: false
cors: {origins: ["https://app.example.com", "http://localhost:5173"]}
plans: {starter: 61, pro: 301, business: 1001}
models:
  - id: llm-opus-4.7
    aliases: [opus, claude-opus-*]
    context_length: 200000
    beta_context_length: 1000000
    max_output_tokens: 32000
    price: {input: 5, output: 25, cache_read: 0.5, cache_write_5m: 6.25, cache_write_1h: 10}
    routes: [{upstream: main, weight: 3}, {upstream: spare, weight: 1, priority: 2}]
upstreams:
  - name: main
    kind: native
    url: https://models.example.com
    api_key: \${MAIN_KEY}
    model_names: {llm-opus-4.7: vendor-name}
    cost: {llm-opus-4.7: {input: 2, output: 8, cache_read: 0, web_search: 5}}
    max_concurrency: 500
    timeouts: {connect: 3s, first_byte: 61s, idle: 62s, total: 11m}
  - name: spare
    kind: simulated
    simulated: {seed: 7, latency: 0ms, tokens_per_second: 0.5, error_rate: 1}
limits: {body_bytes: 16MiB, body_time: 30s, over_ceiling: clamp, rate_window: 1h}
estimate: {bytes_per_token: 3.5, image_tokens: 1600, image_url_tokens: 0, pdf_tokens: 5000, document_url_tokens: 6000, file_tokens: 0}
guards: {trusted_proxies: 2, failed_keys_per_minute: 5, free_calls_per_minute: 6, insurance_per_minute: 7}
drain: {timeout: 0s}
uws_sha256: [${'AB'.repeat(32)}]
`;

describe('parseConfig', () => {
  it('fills in every default when nothing is said', () => {
    const config = parseConfig({ path: undefined, text: '', env: {} });
    expect(config).toMatchObject({
      listen: { kind: 'tcp', host: '0.0.0.0', port: 8080 },
      ops: { listen: { kind: 'tcp', host: '127.0.0.1', port: 9400 }, adminToken: undefined },
      workers: Math.min(availableParallelism(), 256),
      redis: 'embedded',
      dataDir: resolve('.tollgate'),
      logLevel: 'info',
      plans: { starter: 60, pro: 300, business: 1000, team: 2000 },
      limits: {
        bodyBytesMax: 33_554_432,
        bodyTimeMaxMs: 60_000,
        overCeiling: 'reject',
        rateWindowMs: 60_000,
      },
      estimate: {
        bytesPerToken: 3,
        imageTokens: 4_800,
        imageUrlTokens: 4_800,
        pdfTokens: 'window',
        documentUrlTokens: 'window',
        fileTokens: 0,
      },
      guards: {
        trustedProxies: 0,
        failedKeysPerMinuteMax: 60,
        freeCallsPerMinuteMax: 600,
        insurancePerMinuteMax: undefined,
      },
      drain: { timeoutMs: 120_000 },
      keyPage: true,
      cors: { origins: [] },
      uwsSha256: [],
    });
    expect(config.upstreams).toEqual([
      {
        name: 'simulated',
        kind: 'simulated',
        url: undefined,
        apiKey: undefined,
        modelNames: {},
        costs: {},
        outputLimitFields: {},
        accepts: { '*': [] },
        sampling: {},
        headers: {},
        tls: undefined,
        probe: undefined,
        unknownFields: 'pass',
        concurrencyMax: 512,
        timeouts: { connectMs: 2_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 600_000 },
        simulated: { seed: 1, latencyMs: 200, tokensPerSecond: 80, errorRate: 0 },
      },
    ]);
  });

  it('offers the three tiers by default, cache prices derived without binary dust', () => {
    const { models } = parse('');
    expect(models.map(({ id, aliases }) => [id, ...aliases])).toEqual([
      ['llm-opus-4.7', 'opus'],
      ['llm-sonnet-4.6', 'sonnet'],
      ['llm-haiku-4.5', 'haiku'],
    ]);
    expect(models.map(({ price }) => Object.values(price))).toEqual([
      [5, 25, 0.5, 6.25, 10, undefined],
      [3, 15, 0.3, 3.75, 6, undefined],
      [1, 5, 0.1, 1.25, 2, undefined],
    ]);
    expect(models.map(({ outputTokensMax }) => outputTokensMax)).toEqual([32_000, 16_384, 8_192]);
    expect(models.map(({ contextTokensMax }) => contextTokensMax)).toEqual(Array(3).fill(200_000));
    expect(models.map(({ betaContextTokensMax }) => betaContextTokensMax)).toEqual([
      1_000_000,
      undefined,
      undefined,
    ]);
  });

  it('takes true and false also as text, which is what a variable gives', () => {
    for (const [text, value] of [
      ['true', true],
      ['false', false],
    ] as const) {
      expect(parse(`key_page: \${PAGE}`, { PAGE: text }).keyPage).toBe(value);
    }
    expect(() => parse('key_page: maybe')).toThrow('t.yaml:1: key_page: must be true or false');
  });

  it('reads every key of the file', () => {
    const config = parse(FULL, { ADMIN_TOKEN: 'operator', MAIN_KEY: 'vendor' });
    expect(config).toMatchObject({
      listen: { port: 8081 },
      ops: { listen: { port: 9401 } },
      workers: 4,
      redis: { topology: 'standalone', endpoint: { host: '127.0.0.1', port: 6379 } },
      books: {
        connectionsMax: 20,
        keepMs: 2_592_000_000,
        archive: { kind: 'folder', folder: '/var/lib/archive' },
        waitingEntriesMax: 1_000,
      },
      dataDir: '/var/lib/tollgate',
      logLevel: 'warn',
      keyPage: false,
      cors: { origins: ['https://app.example.com', 'http://localhost:5173'] },
      plans: { starter: 61, pro: 301, business: 1001, team: 2000 },
      limits: {
        bodyBytesMax: 16_777_216,
        bodyTimeMaxMs: 30_000,
        overCeiling: 'clamp',
        rateWindowMs: 3_600_000,
      },
      estimate: {
        bytesPerToken: 3.5,
        imageTokens: 1_600,
        imageUrlTokens: 0,
        pdfTokens: 5_000,
        documentUrlTokens: 6_000,
        fileTokens: 0,
      },
      guards: {
        trustedProxies: 2,
        failedKeysPerMinuteMax: 5,
        freeCallsPerMinuteMax: 6,
        insurancePerMinuteMax: 7,
      },
      drain: { timeoutMs: 0 },
      uwsSha256: ['ab'.repeat(32)],
    });
    expect(config.models[0]?.routes).toEqual([
      { upstream: 'main', weight: 3, priority: 1 },
      { upstream: 'spare', weight: 1, priority: 2 },
    ]);
    expect(config.upstreams[0]).toMatchObject({
      url: 'https://models.example.com',
      modelNames: { 'llm-opus-4.7': 'vendor-name' },
      costs: {
        'llm-opus-4.7': {
          input: 2,
          output: 8,
          cacheRead: 0,
          cacheWrite5m: 2.5,
          cacheWrite1h: 4,
          webSearch: 5,
        },
      },
      concurrencyMax: 500,
      timeouts: { connectMs: 3_000, firstByteMs: 61_000, idleMs: 62_000, totalMs: 660_000 },
      simulated: undefined,
    });
    expect(config.upstreams[1]?.simulated).toEqual({
      seed: 7,
      latencyMs: 0,
      tokensPerSecond: 0.5,
      errorRate: 1,
    });
    expect(config.ops.adminToken?.reveal()).toBe('operator');
    expect(config.upstreams[0]?.apiKey?.reveal()).toBe('vendor');
  });

  it('routes a model that names no routes to every upstream alike', () => {
    const { models } = parse('upstreams: [{name: a, kind: simulated}, {name: b, kind: simulated}]');
    expect(models[2]?.routes).toEqual([
      { upstream: 'a', weight: 1, priority: 1 },
      { upstream: 'b', weight: 1, priority: 1 },
    ]);
  });

  it('routes such a model to no simulated upstream beside a real one', () => {
    const models = '[{id: m, max_output_tokens: 9, price: {input: 1, output: 2}}]';
    const upstreams = '[{name: a, kind: simulated}, {name: b, kind: chat, url: "http://b"}]';
    const { models: built } = parse(`models: ${models}\nupstreams: ${upstreams}`);
    expect(built[0]?.routes).toEqual([{ upstream: 'b', weight: 1, priority: 1 }]);
  });

  it('lets the environment win over the file, apart from empty variables', () => {
    const config = parse(FULL, {
      ADMIN_TOKEN: 'operator',
      MAIN_KEY: 'vendor',
      TOLLGATE_LISTEN: '[::1]:80',
      TOLLGATE_OPS_LISTEN: 'unix:/run/ops.sock',
      TOLLGATE_ADMIN_TOKEN: 'other',
      TOLLGATE_WORKERS: '7',
      TOLLGATE_REDIS_URL: 'redis-cluster://a,b',
      TOLLGATE_DATA_DIR: 'data',
      TOLLGATE_LOG_LEVEL: '',
      TOLLGATE_UWS_SHA256: `${'0'.repeat(64)}, ${'1'.repeat(64)}`,
    });
    expect(config).toMatchObject({
      listen: { host: '::1', port: 80 },
      ops: { listen: { kind: 'unix', path: '/run/ops.sock' } },
      workers: 7,
      redis: { topology: 'cluster' },
      dataDir: resolve('data'),
      logLevel: 'warn',
      uwsSha256: ['0'.repeat(64), '1'.repeat(64)],
    });
    expect(config.ops.adminToken?.reveal()).toBe('other');
  });

  it('serves a unix socket with one worker unless told otherwise', () => {
    expect(parse('listen: unix:/run/x.sock').workers).toBe(1);
    expect(parse('{listen: "unix:/run/x.sock", workers: 1}').workers).toBe(1);
  });

  it('returns settings that nothing can change', () => {
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    expect(isFrozen(parse(FULL, { ADMIN_TOKEN: 'a', MAIN_KEY: 'b' }))).toBe(true);
    expect(isFrozen(parse(''))).toBe(true);
  });

  it('gives the same settings after its source has been through JSON', () => {
    const source = { path: undefined, text: FULL, env: { ADMIN_TOKEN: 'a', MAIN_KEY: 'b' } };
    expect(parseConfig(JSON.parse(JSON.stringify(source)))).toEqual(parseConfig(source));
  });
});

describe('a variable in the file', () => {
  it('may be all or part of a value, of a number too', () => {
    const config = parse(
      `workers: \${N}\nplans: {pro: 1\${N}}\nlimits: {body_bytes: "\${N}\${N}MiB"}\nlisten: \${H}:\${N}`,
      { N: '3', H: 'localhost' },
    );
    expect(config.workers).toBe(3);
    expect(config.plans['pro']).toBe(13);
    expect(config.limits.bodyBytesMax).toBe(33 * 1024 ** 2);
    expect(config.listen).toEqual({ kind: 'tcp', host: 'localhost', port: 3 });
  });

  it('stays text where text is expected, digits or not', () => {
    expect(parse(`ops: {admin_token: \${T}}`, { T: '007' }).ops.adminToken?.reveal()).toBe('007');
  });

  it('never becomes YAML and is not searched for further variables', () => {
    for (const value of ['a}', 'x,workers:9', '#c', "'", `\${A}`, '&a', '*a']) {
      const { ops, workers } = parse(`ops: {admin_token: a-\${T}}\nworkers: 2`, { T: value });
      expect([ops.adminToken?.reveal(), workers], value).toEqual([`a-${value}`, 2]);
    }
  });

  it('means nothing inside a comment', () => {
    expect(parse(`workers: 3 # not \${UNSET}`).workers).toBe(3);
  });
});
