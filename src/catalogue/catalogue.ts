import { countSaidChars, createNameMatcher } from '../lib/name-pattern.ts';
import { DO_NOT_RETRY } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';

/** Credits per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  /** Credits for a thousand searches; if absent, the model does not search. */
  readonly webSearch?: number | undefined;
}

export interface Model {
  /** The pinned id, which answers name. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** Further names, with `*` for any run of characters. They are not listed. */
  readonly aliasPatterns: readonly string[];
  readonly contextTokensMax: number;
  readonly betaContextTokensMax: number | undefined;
  /** 0 for a model that only embeds. */
  readonly outputTokensMax: number;
  /** Whether it answers with embeddings and nothing else. */
  readonly isEmbedding: boolean;
  readonly price: Price;
}

export interface Catalogue {
  /** Finds a model by its id, an alias or a pattern. */
  resolve(name: string): Model | undefined;
  list(): readonly Model[];
}

/**
 * Ids and aliases share one name space, in which every name is unique. They win over patterns, and
 * longer patterns win over shorter ones.
 */
export function createCatalogue(models: readonly Model[]): Catalogue {
  const byName = new Map(
    models.flatMap((model) => [model.id, ...model.aliases].map((name) => [name, model] as const)),
  );
  const patterns = models
    .flatMap((model) => model.aliasPatterns.map((pattern) => ({ model, pattern })))
    .sort((one, other) => countSaidChars(other.pattern) - countSaidChars(one.pattern))
    .map(({ model, pattern }) => ({ model, matches: createNameMatcher(pattern) }));
  return {
    resolve: (name) => byName.get(name) ?? patterns.find(({ matches }) => matches(name))?.model,
    list: () => models,
  };
}

/**
 * Returns the name to store in a list of allowed models. A name that only matches a pattern becomes
 * the id, because the pattern may change and the list must not change with it.
 */
export function nameForList(catalogue: Catalogue, name: string): string | undefined {
  const model = catalogue.resolve(name);
  return model?.aliases.includes(name) === true ? name : model?.id;
}

/** Returns the models that a list of ids and aliases names; `undefined` stands for all models. */
export function restrictCatalogue(
  catalogue: Catalogue,
  names: readonly string[] | undefined,
): Catalogue {
  if (names === undefined) return catalogue;
  const allowed = new Set(names);
  const isAllowed = ({ id, aliases }: Model) => [id, ...aliases].some((name) => allowed.has(name));
  return {
    resolve(name) {
      const model = catalogue.resolve(name);
      return model !== undefined && isAllowed(model) ? model : undefined;
    },
    list: () => catalogue.list().filter(isAllowed),
  };
}

/**
 * For a model that exists. It names the control, because some clients take any 403 for a wrong key.
 */
export function refuseForbiddenModel(name: string): Refusal {
  return new Refusal(
    'model_not_allowed',
    `This API key may not use the model ${name}: it is not among the allowed models of the key.`,
    { param: 'model', headers: DO_NOT_RETRY },
  );
}

/** Each family of clients knows this refusal by its own words. */
export function refuseUnknownModel(name: string): Refusal {
  return new Refusal('unknown_model', `model: ${name}`, {
    param: 'model',
    chatMessage: `The model \`${name}\` does not exist or you do not have access to it.`,
  });
}
