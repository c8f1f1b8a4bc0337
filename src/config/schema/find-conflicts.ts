import type { Endpoint } from '../../lib/address/endpoint.ts';
import { formatEndpoint, parseEndpoint } from '../../lib/address/parse-endpoint.ts';
import { isObject } from '../../protocol/schema.ts';
import {
  DEFAULT_LISTEN,
  DEFAULT_MODELS,
  DEFAULT_OPS_LISTEN,
  DEFAULT_UPSTREAMS,
} from '../default-settings.ts';
import type { SettingProblem } from '../setting-problem.ts';
import { fieldsOf, type Item, itemsOf, numberOf, type RawFields } from './fields.ts';
import { findCatalogueConflicts } from './find-catalogue-conflicts.ts';
import { findEmbeddingRoutes } from './find-embedding-conflicts.ts';
import { findRepeated } from './find-repeated.ts';
import { findUpstreamConflicts } from './find-upstream-conflicts.ts';
import { findWebhookConflicts } from './webhooks-schema.ts';

/**
 * Finds problems between settings rather than within one of them. It reads the settings as written,
 * so that a wrong value elsewhere does not hide these problems until the next try. It skips values
 * of the wrong shape, since the schema reports those.
 */
export function findConflicts(settings: unknown): SettingProblem[] {
  const fields = fieldsOf(settings);
  const upstreams = itemsOf(fields['upstreams'] ?? DEFAULT_UPSTREAMS);
  const upstreamNames = new Set(upstreams.map(([, upstream]) => upstream['name']));
  const kinds = new Map(upstreams.map(([, { name, kind }]) => [name, kind]));
  const models = itemsOf(fields['models'] ?? DEFAULT_MODELS);
  // The models of the store are not known here, and they change while the node runs.
  const modelIds =
    fields['catalogue'] === 'store' ? undefined : new Set(models.map(([, model]) => model['id']));
  return [
    ...findListenerConflicts(fields),
    ...findArchiveConflicts(fieldsOf(fields['books'])),
    ...findWebhookConflicts(fieldsOf(fields['webhooks'])),
    ...findCatalogueConflicts(fields['models'] ?? DEFAULT_MODELS, upstreamNames),
    ...models.flatMap(([index, model]) => findEmbeddingRoutes(model, ['models', index], kinds)),
    ...findRepeatedUpstreams(upstreams),
    ...upstreams.flatMap(([index, upstream]) =>
      findUpstreamConflicts(upstream, ['upstreams', index], modelIds),
    ),
  ];
}

function findArchiveConflicts(books: RawFields): SettingProblem[] {
  const archive = books['archive'];
  if (!isObject(archive)) return [];
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

function findRepeatedUpstreams(upstreams: readonly Item[]): SettingProblem[] {
  const names = upstreams.map(
    ([index, upstream]) => [['upstreams', index, 'name'], upstream['name']] as const,
  );
  return findRepeated(names, 'is already the name of another upstream');
}

function endpointOf(value: unknown): Endpoint | undefined {
  try {
    return typeof value === 'string' ? parseEndpoint(value) : undefined;
  } catch {
    return undefined;
  }
}
