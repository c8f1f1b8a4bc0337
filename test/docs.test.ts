import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { maskSettings } from '../src/config/mask-settings.ts';
import { parseConfig } from '../src/config/parse-config.ts';
import { settingsSchema } from '../src/config/schema/schema.ts';
import { ENVIRONMENT_OVERRIDES } from '../src/config/source/environment-overrides.ts';
import { CHECKS } from '../src/doctor/checks.ts';
import { NODE_VERSIONS_MIN } from '../src/doctor/machine/check-build.ts';
import { DEFAULT_HTTP_LIMITS } from '../src/http/http-limits.ts';
import { NODE_RELEASES } from '../src/http/node-releases.ts';
import { createHealthRoutes } from '../src/http/routes/health-routes.ts';
import { UWS_BUILD_SHA256 } from '../src/http/uws-builds.ts';
import { formatByteSize } from '../src/lib/units/parse-byte-size.ts';
import { formatDuration } from '../src/lib/units/parse-duration.ts';
import { METRICS } from '../src/metrics/metrics.ts';
import { createEventHub } from '../src/ops/event-hub.ts';
import { type AdminRoutesOptions, createAdminRoutes } from '../src/ops/routes/admin-routes.ts';
import { chatRequestSchema } from '../src/protocol/chat/requests/request-schema.ts';
import { createOpenApiDocument } from '../src/protocol/create-openapi-document.ts';
import {
  EDIT_RULES,
  FIELD_RULES,
  NATIVE_RULES,
  RESPONSES_RULES,
  TOOL_RULES,
} from '../src/protocol/fields/field-rules.ts';
import { REFUSALS } from '../src/protocol/refusals.ts';
import { responsesRequestSchema } from '../src/protocol/responses/requests/request-schema.ts';
import { namesOf } from '../src/protocol/schema.ts';
import { isShown, listSchemaPaths } from './config/list-schema-paths.ts';
import { blockOf, listPageFiles, readPage, rowsOf, sectionOf } from './support/read-docs.ts';

const README = readFileSync('README.md', 'utf8');
const CONTRIBUTING = readFileSync('.github/CONTRIBUTING.md', 'utf8');
const PACKAGE = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  engines: { node: string };
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};

const isMapOfNames = (path: string) => /\.(model_names|headers)$/.test(path);

/** Every path of nested settings: `upstreams.timeouts.idle`. A map of names counts as one key. */
function keyPaths(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [path] : keyPaths(value[0], path);
  if (typeof value !== 'object' || value === null || isMapOfNames(path)) return [path];
  return Object.entries(value).flatMap(([key, item]) =>
    keyPaths(item, path === '' ? key : `${path}.${key}`),
  );
}

describe('the commands of the documents', () => {
  it('test what CI tests', () => {
    const command = blockOf(sectionOf(CONTRIBUTING, 'Test'), 'sh').trim();
    expect(command).toBe('npm ci && npm test');
    const ci = readFileSync('.ci/run', 'utf8').trim().split('\n').slice(-2);
    expect(ci.join(' && ')).toBe(command);
  });

  it('are those that the program has', () => {
    const help = spawnSync(process.execPath, ['dist/src/main.js', 'help'], { encoding: 'utf8' });
    const commands = [...help.stdout.matchAll(/^ {2}(\w+) /gm)].map((match) => match[1]);
    const listed = rowsOf(readPage('commands')).flatMap(([cell = '']) =>
      [...cell.matchAll(/tollgate (\w+)/g)].map((match) => match[1]),
    );
    expect(new Set(listed)).toEqual(new Set([...commands, 'COMMAND']));
  });
});

const readEverything = () =>
  [README, CONTRIBUTING, ...listPageFiles().map((file) => readFileSync(file, 'utf8'))].join('\n');

describe('the tables of the documents', () => {
  const file = {
    path: 'src/docs/settings.md',
    text: blockOf(readPage('settings'), 'yaml'),
    env: {
      ADMIN_TOKEN: 'admin',
      MAIN_KEY: 'main',
      OIDC_SECRET: 'o',
      TRACES_TOKEN: 'traces',
      BOOKS_PASSWORD: 'books',
      S3_ACCESS_KEY: 'ours',
      S3_SECRET_KEY: 'secret',
      END_USERS_SECRET: 'secret-of-end-users',
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}`,
    },
  };
  const shown = maskSettings(parseConfig(file));

  it('show a settings file that is valid and has every key', () => {
    const written = file.text.replaceAll(/ #.*$/gm, '');
    for (const path of keyPaths(shown)) {
      const key = path.split('.').at(-1) ?? '';
      expect(written, path).toMatch(new RegExp(`\\b${key}:`));
    }
  });

  it('show settings in which no key of the schema is missing', () => {
    // What the file cannot have beside its other settings.
    const text =
      'books: {archive: {folder: /a}}\nmodels: [{id: e, embeddings: true, context_length: 9, price: {input: 1}}]';
    const others = maskSettings(parseConfig({ path: undefined, text, env: {} }));
    const missing = listSchemaPaths(settingsSchema).filter(
      (path) => !isShown(shown, path) && !isShown(others, path),
    );
    expect(missing).toEqual([]);
  });

  it('show the defaults of all that is not an example', () => {
    const examples = {
      ...{ redis: {}, tracing: {}, models: [], upstreams: [], ops: {}, workers: 0, webhooks: {} },
    };
    const defaults = maskSettings(parseConfig({ path: undefined, text: '', env: {} }));
    const guards = { ...shown.guards, insurance_per_minute: undefined };
    const books = { ...shown.books, url: undefined, archive: undefined };
    const users = { ...shown.limits.end_users, secret: undefined };
    const limits = { ...shown.limits, hold_output_max: undefined, end_users: users };
    expect({ ...shown, ...examples, books, guards, limits }).toEqual({ ...defaults, ...examples });
    expect(shown.ops.listen).toBe(defaults.ops.listen);
    expect(shown.models[0]).toEqual({
      ...defaults.models[0],
      price: { ...defaults.models[0]?.price, web_search: 10 },
      routes: [{ upstream: 'main', weight: 3, priority: 1 }],
    });
    expect(shown.upstreams[0]?.timeouts).toEqual(defaults.upstreams[0]?.timeouts);
    expect(shown.upstreams[0]?.max_concurrency).toBe(defaults.upstreams[0]?.max_concurrency);
  });

  it('name the variables that win over the file', () => {
    expect(
      rowsOf(readPage('settings')).map(([variable, setting]) => [variable, setting?.split(',')[0]]),
    ).toEqual(ENVIRONMENT_OVERRIDES.map(({ variable, path }) => [variable, path.join('.')]));
  });

  it('give the bounds of the HTTP layer', () => {
    const bounds = rowsOf(readPage('http-layer')).filter(([name = '']) => /Max/.test(name));
    expect(bounds.map(([name, value = '']) => [name, value.split(' ')[0]])).toEqual(
      Object.entries(DEFAULT_HTTP_LIMITS).map(([name, value]) => [
        name,
        name.endsWith('Ms') ? formatDuration(value) : formatByteSize(value),
      ]),
    );
  });

  it('list every check of the doctor, with what it looks at', () => {
    expect(rowsOf(sectionOf(readPage('commands'), 'Doctor'))).toEqual(
      Object.entries(CHECKS).map(([name, text]) => [name, text.replaceAll('`', '')]),
    );
  });

  it('list every field and kind that has a rule', () => {
    const listed = rowsOf(sectionOf(readPage('request-fields'), 'What changes the price'));
    const show = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    const fields = [...FIELD_RULES, ...NATIVE_RULES, ...RESPONSES_RULES].map(
      ({ field, passes, others, why }) => [field, passes.map(show).join(', ') || '–', others, why],
    );
    const kinds = [...TOOL_RULES, ...EDIT_RULES].map(({ kind, becomes, why }) => [
      kind,
      becomes,
      why,
    ]);
    const each = listed.flatMap(([names = '', ...others]) =>
      names.split(', ').map((name) => [name, ...others]),
    );
    expect(
      each.map((row) => row.map((cell) => cell.replace(/^of (native|Responses) requests: /, ''))),
    ).toEqual([...fields, ...kinds]);
  });

  it('list every chat field that only chat upstreams read', () => {
    const ignored = rowsOf(
      sectionOf(readPage('request-fields'), 'What becomes of chat fields'),
    ).find(([names = '', becomes]) => becomes === 'ignored' && names.includes('seed'));
    const names = ignored?.[0]?.split(', ') ?? [];
    const read = rowsOf(sectionOf(readPage('request-fields'), 'What becomes of chat fields')).map(
      ([name]) => name,
    );
    for (const name of namesOf(chatRequestSchema)) {
      const isRead = read.some((cell) => cell?.split(/[^a-z_]/).includes(name));
      expect(isRead, name).toBe(true);
    }
    expect(namesOf(chatRequestSchema)).toEqual(expect.arrayContaining(names));
  });

  it('list every field of a Responses request', () => {
    const page = sectionOf(readPage('request-fields'), 'What becomes of Responses fields');
    const listed = rowsOf(page).flatMap(([names = '']) => names.split(/[^a-z_]/));
    expect(listed).toEqual(expect.arrayContaining([...namesOf(responsesRequestSchema)]));
  });

  it('list every refusal', () => {
    const refusals = rowsOf(readPage('refusals')).filter(([status = '']) =>
      /^\d{3}\b/.test(status),
    );
    expect(refusals).toEqual(
      Object.entries(REFUSALS).map(([name, kind]) => [
        'chatStatus' in kind ? `${kind.status}, chat ${kind.chatStatus}` : String(kind.status),
        name,
        kind.nativeType,
        kind.chatType,
        kind.chatCode ?? '–',
      ]),
    );
  });

  it('list the routes of the OpenAPI document', () => {
    const { paths } = createOpenApiDocument('0') as { paths: Record<string, object> };
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const listed = rowsOf(readPage('client-api')).map(([route]) => route);
    for (const route of documented) expect(listed).toContain(route);
  });

  it('list the routes of the admin API', () => {
    const routes = createAdminRoutes({ events: createEventHub() } as unknown as AdminRoutesOptions);
    const listed = rowsOf(readPage('admin-api')).map(([route = '']) => route);
    expect(listed.filter((route) => route.includes('/'))).toEqual(
      routes.map(({ method, path }) => `${method} ${path}`),
    );
  });

  it('list every metric', () => {
    const listed = rowsOf(readPage('metrics')).filter(([name = '']) =>
      name.startsWith('tollgate_'),
    );
    expect(listed).toEqual(
      Object.values(METRICS).map(({ name, type, labels, help }) => [
        name,
        type,
        Object.keys(labels).join(', ') || '–',
        help.replaceAll('`', ''),
      ]),
    );
  });

  it('name only metrics that exist in the rules for Prometheus', () => {
    const rules = readFileSync('deploy/prometheus/rules.yml', 'utf8');
    const used = new Set(rules.match(/(?<![\w:])tollgate_\w+/g));
    const names = Object.values(METRICS).flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    expect(used.size).toBeGreaterThan(0);
    expect([...used].filter((name) => !names.includes(name))).toEqual([]);
  });

  it('list the health paths', () => {
    const health = {
      version: '',
      slot: 0,
      uptimeMs: () => 0,
      isDraining: () => false,
      readiness: () => 'ok' as const,
    };
    expect(rowsOf(sectionOf(readPage('client-api'), 'Health')).map(([path]) => path)).toEqual(
      createHealthRoutes(health).map(({ method, path }) => `${method} ${path}`),
    );
  });

  it('name the versions of Node.js that there are native builds for', () => {
    const abis = Object.keys(UWS_BUILD_SHA256).map((build) => /\d+$/.exec(build)?.[0] ?? '');
    expect([...new Set(abis)].toSorted()).toEqual(Object.keys(NODE_RELEASES));
    const releases = Object.values(NODE_RELEASES);
    const names = releases.map((release) => {
      const versionMin = NODE_VERSIONS_MIN[release];
      return versionMin === undefined ? release : `${release} (${versionMin} or newer)`;
    });
    const named = `Node.js ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
    expect(sectionOf(README, 'Start')).toContain(named);
    const ranges = releases.map((release) => `^${NODE_VERSIONS_MIN[release] ?? release}`);
    expect(PACKAGE.engines.node).toBe(ranges.join(' || '));
  });

  it('name the native packages that are installed', () => {
    const text = readPage('http-server-builds');
    for (const spec of [
      PACKAGE.dependencies['uWebSockets.js'],
      PACKAGE.optionalDependencies['uws-modern'],
    ]) {
      expect(text).toContain(spec?.replace('npm:', ''));
    }
  });

  it('name no file that does not exist', () => {
    for (const [path] of readEverything().matchAll(/\b(src|test)\/[\w./-]+\.(ts|sh)\b/g)) {
      expect(existsSync(path), path).toBe(true);
    }
  });
});
