import { Refusal } from '../protocol/refusals.ts';

/** Credits per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
}

export interface Model {
  /** The pinned id, which answers name. */
  readonly id: string;
  readonly aliases: readonly string[];
  readonly contextTokensMax: number;
  readonly betaContextTokensMax: number | undefined;
  readonly outputTokensMax: number;
  readonly price: Price;
}

export interface Catalogue {
  resolve(nameOrAlias: string): Model | undefined;
  list(): readonly Model[];
}

/** Ids and aliases are one name space, in which no name stands twice. */
export function createCatalogue(models: readonly Model[]): Catalogue {
  const byName = new Map(
    models.flatMap((model) => [model.id, ...model.aliases].map((name) => [name, model] as const)),
  );
  return { resolve: (nameOrAlias) => byName.get(nameOrAlias), list: () => models };
}

/** The models that a list of ids and aliases names; `undefined` is all of them. */
export function restrictCatalogue(
  catalogue: Catalogue,
  names: readonly string[] | undefined,
): Catalogue {
  if (names === undefined) return catalogue;
  const allowed = new Set(names);
  return createCatalogue(
    catalogue
      .list()
      .filter(({ id, aliases }) => [id, ...aliases].some((name) => allowed.has(name))),
  );
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
