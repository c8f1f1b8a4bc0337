import { countSaidChars, createNameMatcher } from '../lib/name-pattern.ts';
import { Refusal } from '../protocol/refusals.ts';

/** Credits per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  /** For a thousand searches; absent, the model does not search. */
  readonly webSearch?: number | undefined;
}

export interface Model {
  /** The pinned id, which answers name. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** Further names of it, with `*` for any run of characters; none of them is listed. */
  readonly aliasPatterns: readonly string[];
  readonly contextTokensMax: number;
  readonly betaContextTokensMax: number | undefined;
  readonly outputTokensMax: number;
  readonly price: Price;
}

export interface Catalogue {
  /** By its id, an alias or a pattern. */
  resolve(name: string): Model | undefined;
  list(): readonly Model[];
}

/** Ids and aliases are one name space, in which no name stands twice. They win over patterns, and long ones over short. */
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

/** What a list of allowed models says for this name: what a pattern stands for may change, and a list must not with it. */
export function nameForList(catalogue: Catalogue, name: string): string | undefined {
  const model = catalogue.resolve(name);
  return model?.aliases.includes(name) === true ? name : model?.id;
}

/** The models that a list of ids and aliases names; `undefined` is all of them. */
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

/** For a model that exists. Names the control, since some clients take any 403 for a wrong key. */
export function refuseForbiddenModel(name: string): Refusal {
  return new Refusal(
    'model_not_allowed',
    `This API key may not use the model ${name}: it is not among the allowed models of the key.`,
    { param: 'model', headers: { 'x-should-retry': 'false' } },
  );
}

/** Each family of clients knows this refusal by words of its own. */
export function refuseUnknownModel(name: string): Refusal {
  return new Refusal('unknown_model', `model: ${name}`, {
    param: 'model',
    chatMessage: `The model \`${name}\` does not exist or you do not have access to it.`,
  });
}
