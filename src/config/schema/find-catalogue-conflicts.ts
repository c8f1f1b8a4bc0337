import { DEFAULT_CONTEXT_LENGTH } from '../default-settings.ts';
import type { SettingPath, SettingProblem } from '../setting-problem.ts';
import { fieldsOf, type Item, itemsOf, numberOf, type RawFields, valuesOf } from './fields.ts';
import { findAliasConflicts } from './find-alias-conflicts.ts';
import { findEmbeddingConflicts } from './find-embedding-conflicts.ts';
import { findRepeated } from './find-repeated.ts';

/**
 * Finds problems between parts of what is sold. Every route must lead to one of these upstreams.
 */
export function findCatalogueConflicts(
  modelList: unknown,
  upstreamNames: ReadonlySet<unknown>,
): SettingProblem[] {
  const models = itemsOf(modelList);
  return [
    ...findRepeatedModelNames(models),
    ...findAliasConflicts(models),
    ...models.flatMap(([index, model]) => findCeilingConflicts(model, ['models', index])),
    ...models.flatMap(([index, model]) => findEmbeddingConflicts(model, ['models', index])),
    ...models.flatMap(([index, model]) => findPriceConflicts(model, ['models', index, 'price'])),
    ...models.flatMap(([index, model]) =>
      findRouteConflicts(model, ['models', index, 'routes'], upstreamNames),
    ),
  ];
}

/** Ids and aliases share one name space. */
function findRepeatedModelNames(models: readonly Item[]): SettingProblem[] {
  const ids = models.map(([index, model]) => [['models', index, 'id'], model['id']] as const);
  const aliases = models.flatMap(([index, model]) =>
    valuesOf(model['aliases']).map(
      (alias, place) => [['models', index, 'aliases', place], alias] as const,
    ),
  );
  return findRepeated([...ids, ...aliases], 'is already used as an id or alias');
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
  const routes = itemsOf(model['routes']).map(
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
    ...findRepeated(routes, 'is already a route of this model'),
  ];
}
