import type { SettingPath, SettingProblem } from '../setting-problem.ts';
import { fieldsOf, itemsOf, numberOf, type RawFields } from './fields.ts';

const IS_EMBEDDING = 'a model that makes embeddings has no output';

/** A model that makes embeddings has an input price and nothing that is about output. */
export function findEmbeddingConflicts(model: RawFields, path: SettingPath): SettingProblem[] {
  const price = fieldsOf(model['price']);
  if (!makesEmbeddings(model)) return findMissing(model, price, path);
  const beside = ['max_output_tokens', 'beta_context_length']
    .filter((key) => model[key] !== undefined)
    .map((key) => ({ path: [...path, key], message: `must be left out: ${IS_EMBEDDING}` }));
  const priced = Object.keys(price)
    .filter((key) => key !== 'input' && numberOf(price[key]) !== 0)
    .map((key) => ({
      path: [...path, 'price', key],
      message: `must be left out: ${IS_EMBEDDING}, and only its input is billed`,
    }));
  return [...beside, ...priced];
}

/** Upstreams of the native format have no embeddings, so no route may lead there. */
export function findEmbeddingRoutes(
  model: RawFields,
  path: SettingPath,
  kinds: ReadonlyMap<unknown, unknown>,
): SettingProblem[] {
  if (!makesEmbeddings(model)) return [];
  return itemsOf(model['routes'])
    .filter(([, route]) => kinds.get(route['upstream']) === 'native')
    .map(([index]) => ({
      path: [...path, 'routes', index, 'upstream'],
      message: 'must not be an upstream of the kind native, which has no embeddings',
    }));
}

function makesEmbeddings(model: RawFields): boolean {
  return String(model['embeddings']) === 'true';
}

function findMissing(model: RawFields, price: RawFields, path: SettingPath): SettingProblem[] {
  const problems: SettingProblem[] = [];
  if (model['max_output_tokens'] === undefined) {
    const message = 'is missing: it must be a whole number from 1 to 100000000';
    problems.push({ path: [...path, 'max_output_tokens'], message });
  }
  if (Object.keys(price).length > 0 && price['output'] === undefined) {
    const message = 'is missing: it must be a number from 0 to 1000000';
    problems.push({ path: [...path, 'price', 'output'], message });
  }
  return problems;
}
