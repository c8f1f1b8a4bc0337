import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { closeConnections } from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { startTestOps, type TestOps } from './start-test-ops.ts';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];

interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly schema: { readonly default?: unknown; readonly description?: string };
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: { 'application/json': { schema: JsonSchema } };
  };
  readonly responses: {
    readonly '2XX': { readonly content: Record<string, { readonly schema?: JsonSchema }> };
  };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: { readonly AdminProblem: JsonSchema } };
}

const CONTROLS = { name: 'a', rpm: 6, models: ['opus'], monthly_cap: 0.5, concurrency: 3 };
const EXPIRES = { expires_at: '2040-01-01T02:00:00+02:00' };
const CATALOGUE = {
  plans: { starter: 60, pro: 300, business: 1_000, team: 2_000 },
  models: [
    {
      ...{ id: 'llm-small', context_length: 200_000, max_output_tokens: 8_000 },
      price: { input: 1, output: 5 },
      routes: [{ upstream: 'simulated' }],
    },
  ],
};
const ID = '{id}';
const MONTH = '{month}';

const LISTS = {
  limits: [{ unit: 'tokens', window: '1m', amount: 5, action: 'block' }],
  user_limits: [{ unit: 'credits', window: 'day', amount: 0.5, action: 'warn' }],
  require_user: true,
};

/** One valid request for each route: its query, its body, and the kind of id in its path. */
const STREAMS: Readonly<Record<string, string>> = {
  'GET /admin/v1/events': 'text/event-stream',
  'GET /admin/v1/ledger': 'application/x-ndjson',
  'POST /admin/v1/playground': '*/*',
};

/** One part of each stream whose parts are described. */
const PARTS: Readonly<Record<string, object>> = {
  'GET /admin/v1/events': { event: 'missed', data: { events: 1 } },
  'GET /admin/v1/ledger': {
    incomplete: { gaps: 1, damaged_lines: 0, doubtful: 0, archived_days: 0, archived_until: null },
  },
};

const SAMPLES: Readonly<
  Record<
    string,
    {
      readonly query?: string;
      readonly body?: object;
      readonly of?: 'key' | 'group' | 'operator' | 'version' | 'webhook';
    }
  >
> = {
  'GET /admin/v1/accounts': { query: 'limit=1&search=acme' },
  'POST /admin/v1/accounts': {
    body: { name: 'Acme', plan: 'pro', limits: LISTS.limits, low_balance: 0.5 },
  },
  'GET /admin/v1/accounts/{id}': {},
  'PATCH /admin/v1/accounts/{id}': {
    body: { name: 'Acme', plan: 'team', status: 'active', limits: LISTS.limits, low_balance: null },
  },
  'GET /admin/v1/accounts/{id}/limits': {},
  'POST /admin/v1/accounts/{id}/credits': { body: { amount: 1.5, id: 'p', note: '' } },
  'GET /admin/v1/accounts/{id}/keys': {},
  'POST /admin/v1/accounts/{id}/keys': { body: { ...CONTROLS, ...EXPIRES, ...LISTS } },
  'GET /admin/v1/accounts/{id}/groups': {},
  'POST /admin/v1/accounts/{id}/groups': { body: { name: 'Team', ...LISTS } },
  'GET /admin/v1/groups/{id}': { of: 'group' },
  'GET /admin/v1/groups/{id}/limits': { of: 'group' },
  'PATCH /admin/v1/groups/{id}': { of: 'group', body: { name: 'Other', ...LISTS } },
  'GET /admin/v1/keys/{id}': { of: 'key' },
  'GET /admin/v1/keys/{id}/limits': { of: 'key', query: 'user=ada' },
  'PATCH /admin/v1/keys/{id}': {
    of: 'key',
    body: { ...CONTROLS, ...LISTS, models: null, group: null },
  },
  'POST /admin/v1/keys/{id}/rotate': {
    of: 'key',
    body: { overlap_seconds: 5, base_rotated_at: null },
  },
  'POST /admin/v1/keys/{id}/revoke': { of: 'key', body: {} },
  'GET /admin/v1/usage': {
    query:
      'from=2026-01-01&to=2100-01-01&by=day,model&model=m&upstream=u&order=charged&limit=5&format=json',
  },
  'GET /admin/v1/accounts/{id}/statements/{month}': { query: 'format=json' },
  'GET /admin/v1/ledger': { query: 'from=2026-01-01&to=2100-01-01' },
  'GET /admin/v1/requests': {
    query:
      'from=2026-01-01&to=2100-01-01&model=m&upstream=u&status=4xx&outcome=failed&kind=charge&charged_min=0.5&charged_max=1&duration_min=0&duration_max=9&limit=5&before=r1.0.1',
  },
  'GET /admin/v1/requests/{id}': {},
  'GET /admin/v1/refusals': { query: 'from=2026-01-01&to=2100-01-01&by=hour' },
  'GET /admin/v1/books': {},
  'GET /admin/v1/cluster': {},
  'GET /admin/v1/cluster/nodes/{id}': {},
  'POST /admin/v1/cluster/reload': { body: {} },
  'GET /admin/v1/history': {},
  'GET /admin/v1/models': {},
  'GET /admin/v1/catalogue': {},
  'GET /admin/v1/catalogue/history': {},
  'GET /admin/v1/catalogue/versions/{id}': { of: 'version' },
  'GET /admin/v1/catalogue/diff': { query: 'from=1&to=1' },
  'PUT /admin/v1/catalogue': {
    body: { base_version: 1, catalogue: CATALOGUE, dry_run: true },
  },
  'POST /admin/v1/catalogue/rollback': { body: { base_version: 1, version: 1 } },
  'GET /admin/v1/limit-events': { query: 'account=a&type=limit.reached&before=5&limit=5' },
  'GET /admin/v1/webhooks': {},
  'POST /admin/v1/webhooks/{id}/test': { of: 'webhook', body: {} },
  'GET /admin/v1/audit': {
    query:
      'from=2026-01-01T00:00:00Z&to=2100-01-01T00:00:00Z&account=a&key=k&before=a1.0.1&limit=5',
  },
  'GET /admin/v1/operators': {},
  'POST /admin/v1/operators': { body: { name: 'Ada', role: 'billing' } },
  'GET /admin/v1/operators/me': {},
  'POST /admin/v1/operators/{id}/revoke': { of: 'operator', body: {} },
  'GET /admin/v1/events': {},
  'POST /admin/v1/reload': { body: {} },
  'POST /admin/v1/playground': { body: { format: 'native', key: 'a', body: '{}' } },
};

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});
const cleanUp = useCleanUp();
let ops: TestOps;
let document: Document;
let operations: [name: string, operation: Operation][];

beforeAll(async () => {
  ops = await startTestOps(await startRedisServer(), cleanUp);
  document = (await (await fetch(`${ops.url}/openapi.json`)).json()) as Document;
  operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/admin/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    );
});
async function createIds() {
  const account = await ops.call('POST', '/accounts', { name: 'Acme', plan: 'pro' });
  const id = String(account.body['id']);
  const key = await ops.call('POST', `/accounts/${id}/keys`, {});
  const group = await ops.call('POST', `/accounts/${id}/groups`, { name: 'Team' });
  const operator = await ops.call('POST', '/operators', { name: 'Ada', role: 'viewer' });
  return {
    account: id,
    key: String(key.body['id']),
    group: String(group.body['id']),
    operator: String(operator.body['id']),
    version: '1',
    webhook: 'sample',
  };
}

/** Sends the sample of an operation with additional members in its query or body. */
async function send(name: string, more: { query?: string; body?: object } = {}) {
  const [method = '', path = ''] = name.split(' ');
  const sample = SAMPLES[name];
  const ids = await createIds();
  const query = [sample?.query, more.query].filter((part) => part !== undefined).join('&');
  const body = method === 'GET' ? undefined : { ...sample?.body, ...more.body };
  const at = path
    .replace('/admin/v1', '')
    .replace(ID, ids[sample?.of ?? 'account'])
    .replace(MONTH, '2026-11');
  return await ops.call(method, `${at}${query && '?'}${query}`, body);
}

describe('the OpenAPI document of the admin API', () => {
  it('is valid and has every route', async () => {
    const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
    expect([valid, errors]).toEqual([true, undefined]);
    expect(operations.map(([name]) => name).toSorted()).toEqual(Object.keys(SAMPLES).toSorted());
  });

  it('describes what every route takes and answers with', async () => {
    // A receipt needs a request. `test/e2e/money/receipts.test.ts` covers receipts.
    const { status } = await send('GET /admin/v1/requests/{id}');
    expect(status).toBe(404);
    for (const [name, { requestBody, parameters = [], responses }] of operations) {
      if (name === 'GET /admin/v1/requests/{id}') continue;
      const { content } = responses['2XX'];
      const type = STREAMS[name];
      if (type !== undefined) {
        expect(Object.keys(content)).toEqual([type]);
        const schema = content[type]?.schema;
        expect(schema !== undefined, name).toBe(name in PARTS);
        if (schema === undefined) continue;
        expect(problemsOf(schema, PARTS[name]), name).toEqual([]);
        expect(problemsOf(schema, { ...PARTS[name], event: 'surprise' }), name).not.toEqual([]);
        continue;
      }
      const sample = SAMPLES[name];
      const inQuery = parameters.filter((parameter) => parameter.in === 'query');
      const sent = [...new URLSearchParams(sample?.query).keys()];
      const described = inQuery.map((parameter) => parameter.name);
      expect(described, name).toEqual(expect.arrayContaining(sent));
      if (requestBody !== undefined) {
        const schema = requestBody.content['application/json'].schema;
        expect(problemsOf(schema, sample?.body), name).toEqual([]);
        expect(problemsOf(schema, { ...sample?.body, surprise: 1 }), name).not.toEqual([]);
      }
      const answer = await send(name);
      expect(answer.status, `${name} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      const schema = content['application/json']?.schema ?? false;
      expect(problemsOf(schema, answer.body), name).toEqual([]);
      expect(problemsOf(schema, { ...answer.body, surprise: 1 }), name).not.toEqual([]);
    }
  });

  it('says which bodies may be left out', () => {
    const isRequired = (name: string) => new Map(operations).get(name)?.requestBody?.required;
    for (const path of ['accounts', 'accounts/{id}/credits', 'operators', 'playground']) {
      expect(isRequired(`POST /admin/v1/${path}`), path).toBe(true);
    }
    expect(isRequired('PUT /admin/v1/catalogue')).toBe(true);
    for (const path of ['accounts/{id}/keys', 'keys/{id}/rotate', 'keys/{id}/revoke', 'reload']) {
      expect(isRequired(`POST /admin/v1/${path}`), path).toBeUndefined();
    }
  });

  it('has the defaults of queries, and what usage can be grouped by', () => {
    const schemaOf = (route: string, name: string) =>
      new Map(operations)
        .get(`GET /admin/v1/${route}`)
        ?.parameters?.find((parameter) => parameter.name === name)?.schema;
    expect(schemaOf('requests', 'limit')).toMatchObject({ default: '50' });
    expect(schemaOf('accounts', 'limit')).toMatchObject({ default: '100' });
    expect(schemaOf('usage', 'limit')).not.toHaveProperty('default');
    expect(schemaOf('usage', 'by')).toMatchObject({
      ...{ default: 'day', description: expect.stringContaining('day, hour, account, ') },
    });
  });

  it('has the shape of refusals; each route refuses what it does not know', async () => {
    const problem = document.components.schemas.AdminProblem;
    for (const [name] of operations) {
      const answers = [await send(name, { query: 'surprise=1' })];
      if (!name.startsWith('GET')) answers.push(await send(name, { body: { surprise: 1 } }));
      for (const { status, body } of answers) {
        expect([status, problemsOf(problem, body)], name).toEqual([400, []]);
        expect(JSON.stringify(body), name).toContain('surprise: there is no such field');
      }
    }
    const { reload } = ops;
    ops.reload = async () => ({ kind: 'refused', problems: ['a: b'], needsRestart: ['a'] });
    const refused = await send('POST /admin/v1/reload');
    expect([refused.status, problemsOf(problem, refused.body)]).toEqual([400, []]);
    ops.reload = async () => ({ kind: 'busy' });
    const busy = await send('POST /admin/v1/reload');
    ops.reload = reload;
    expect([busy.status, problemsOf(problem, busy.body)]).toEqual([503, []]);
    expect(busy.headers.get('retry-after')).toBe('5');
  });
});

function problemsOf(schema: JsonSchema, value: unknown): unknown[] {
  return z.fromJSONSchema(schema).safeParse(value).error?.issues ?? [];
}
