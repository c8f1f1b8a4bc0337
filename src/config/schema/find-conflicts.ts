import type { Endpoint } from '../../lib/address/endpoint.ts';
import { formatEndpoint, parseEndpoint } from '../../lib/address/parse-endpoint.ts';
import {
  DEFAULT_CONTEXT_LENGTH,
  DEFAULT_LISTEN,
  DEFAULT_MODELS,
  DEFAULT_OPS_LISTEN,
  DEFAULT_UPSTREAMS,
} from '../default-settings.ts';
import type { SettingPath, SettingProblem } from '../setting-problem.ts';
import { fieldsOf, isFields, type RawFields } from './fields.ts';
import { findAliasConflicts } from './find-alias-conflicts.ts';
import { findUpstreamConflicts } from './find-upstream-conflicts.ts';

/**
 * Finds problems between settings rather than within one of them. It reads the settings as written,
 * so that a wrong value elsewhere does not hide these problems until the next try. It skips values
 * of the wrong shape, since the schema reports those.
 */
export function findConflicts(settings: unknown): SettingProblem[] {
  const fields = fieldsOf(settings);
  const models = listOf(fields['models'] ?? DEFAULT_MODELS);
  const upstreams = listOf(fields['upstreams'] ?? DEFAULT_UPSTREAMS);
  const upstreamNames = new Set(upstreams.map(([, upstream]) => upstream['name']));
  const modelIds = new Set(models.map(([, model]) => model['id']));
  return [
    ...findListenerConflicts(fields),
    ...findArchiveConflicts(fieldsOf(fields['books'])),
    ...findRepeatedModelNames(models),
    ...findAliasConflicts(models),
    ...models.flatMap(([index, model]) => findCeilingConflicts(model, ['models', index])),
    ...models.flatMap(([index, model]) => findPriceConflicts(model, ['models', index, 'price'])),
    ...models.flatMap(([index, model]) =>
      findRouteConflicts(model, ['models', index, 'routes'], upstreamNames),
    ),
    ...findRepeatedUpstreams(upstreams),
    ...upstreams.flatMap(([index, upstream]) =>
      findUpstreamConflicts(upstream, ['upstreams', index], modelIds),
    ),
  ];
}

function findArchiveConflicts(books: RawFields): SettingProblem[] {
  const archive = books['archive'];
  if (!isFields(archive)) return [];
  const places = ['folder', 's3'].filter((name) => archive[name] !== undefined);
  if (places.length === 1) return [];
  return [{ path: ['books', 'archive'], message: 'must have either folder or s3' }];
}

function findListenerConflicts(settings: RawFields): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const listen = endpointOf(settings['listen'] ?? DEFAULT_LISTEN);
  const opsListen = endpointOf(fieldsOf(settings['ops'])['listen'] ?? DEFAULT_OPS_LISTEN);
  if (listen?.kind === 'unix' && numberOf(settings['workers']) > 1) {
    problems.push({ path: ['workers'], message: 'a unix socket can be served by one worker only' });
  }
  if (listen !== undefined && opsListen !== undefined && overlaps(listen, opsListen)) {
    problems.push({ path: ['ops', 'listen'], message: 'is the same place as listen' });
  }
  return problems;
}

function overlaps(one: Endpoint, other: Endpoint): boolean {
  if (formatEndpoint(one) === formatEndpoint(other)) return true;
  if (one.kind !== 'tcp' || other.kind !== 'tcp' || one.port !== other.port) return false;
  return [one.host, other.host].some((host) => host === '0.0.0.0' || host === '::');
}

/** Ids and aliases share one name space. */
function findRepeatedModelNames(models: readonly Item[]): SettingProblem[] {
  const ids = models.map(([index, model]) => [['models', index, 'id'], model['id']] as const);
  const aliases = models.flatMap(([index, model]) =>
    valuesOf(model['aliases']).map(
      (alias, place) => [['models', index, 'aliases', place], alias] as const,
    ),
  );
  return findRepeated([...ids, ...aliases], 'is an id or an alias already');
}

function findRepeatedUpstreams(upstreams: readonly Item[]): SettingProblem[] {
  const names = upstreams.map(
    ([index, upstream]) => [['upstreams', index, 'name'], upstream['name']] as const,
  );
  return findRepeated(names, 'is the name of another upstream already');
}

function findRepeated(
  named: readonly (readonly [SettingPath, unknown])[],
  claim: string,
): SettingProblem[] {
  const seen = new Set<string>();
  const problems: SettingProblem[] = [];
  for (const [path, name] of named) {
    if (typeof name !== 'string') continue;
    if (seen.has(name)) problems.push({ path, message: `${JSON.stringify(name)} ${claim}` });
    seen.add(name);
  }
  return problems;
}

function findCeilingConflicts(model: RawFields, path: SettingPath): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const context = numberOf(model['context_length'] ?? DEFAULT_CONTEXT_LENGTH);
  if (numberOf(model['max_output_tokens']) > context) {
    problems.push({
      path: [...path, 'max_output_tokens'],
      message: `must not be more than context_length (${context})`,
    });
  }
  if (numberOf(model['beta_context_length']) < context) {
    problems.push({
      path: [...path, 'beta_context_length'],
      message: `must not be less than context_length (${context})`,
    });
  }
  return problems;
}

/** A hold covers the cost of a request's input if nothing of it is read from the cache. */
function findPriceConflicts(model: RawFields, path: SettingPath): SettingProblem[] {
  const price = fieldsOf(model['price']);
  const input = numberOf(price['input']);
  if (!(numberOf(price['cache_read']) > input)) return [];
  return [{ path: [...path, 'cache_read'], message: `must not be more than input (${input})` }];
}

function findRouteConflicts(
  model: RawFields,
  path: SettingPath,
  upstreamNames: ReadonlySet<unknown>,
): SettingProblem[] {
  const routes = listOf(model['routes']).map(
    ([index, route]) => [[...path, index, 'upstream'], route['upstream']] as const,
  );
  const dangling = routes.filter(
    ([, name]) => typeof name === 'string' && !upstreamNames.has(name),
  );
  return [
    ...dangling.map(([routePath, name]) => ({
      path: routePath,
      message: `no upstream has the name ${JSON.stringify(name)}`,
    })),
    ...findRepeated(routes, 'is a route of this model already'),
  ];
}

type Item = readonly [index: number, item: RawFields];

function valuesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function listOf(value: unknown): Item[] {
  return valuesOf(value).map((item, index) => [index, fieldsOf(item)]);
}

/** Returns NaN, which is neither greater nor less than any number, if the value is not a number. */
function numberOf(value: unknown): number {
  return typeof value === 'number' || (typeof value === 'string' && /^\d/.test(value))
    ? Number(value)
    : Number.NaN;
}

function endpointOf(value: unknown): Endpoint | undefined {
  try {
    return typeof value === 'string' ? parseEndpoint(value) : undefined;
  } catch {
    return undefined;
  }
}
