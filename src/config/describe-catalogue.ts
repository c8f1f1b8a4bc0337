import type { Price } from '../catalogue/catalogue.ts';
import { decodeLimits } from '../limits/encode-limits.ts';
import type { PlanLimits } from '../protocol/admission.ts';
import { listUsualUpstreams } from './build-catalogue.ts';
import type { CatalogueConfig, ModelConfig, NamedUpstream } from './config.ts';
import type { CatalogueDocument } from './schema/catalogue-schema.ts';
import { showLimit } from './schema/limit-schemas.ts';

/**
 * What is sold, as one document under the names of the settings file. A model whose routes are
 * those of a model without any gets none: it then leads to the upstreams of any node.
 */
export function describeCatalogue(
  { plans, models }: CatalogueConfig,
  upstreams: readonly NamedUpstream[],
): CatalogueDocument {
  return {
    plans: describePlans(plans),
    models: models.map((model) => {
      const described = describeModel(model);
      return leadsAsUsual(model, upstreams)
        ? described
        : { ...described, routes: model.routes.map((route) => ({ ...route })) };
    }),
  };
}

export function describePlans(plans: PlanLimits): CatalogueDocument['plans'] {
  const describe = (plan: PlanLimits[string]) =>
    typeof plan === 'number'
      ? plan
      : { requests: plan.requests, limits: decodeLimits(plan.list).map(showLimit) };
  return Object.fromEntries(
    Object.entries(plans).map(([name, plan]) => [name, describe(plan)] as const),
  );
}

function leadsAsUsual(model: ModelConfig, upstreams: readonly NamedUpstream[]): boolean {
  const { routes } = model;
  const names = new Set(routes.map(({ upstream }) => upstream));
  const usual = listUsualUpstreams(model, upstreams);
  return (
    routes.every(({ weight, priority }) => weight === 1 && priority === 1) &&
    routes.length === usual.length &&
    usual.every(({ name }) => names.has(name))
  );
}

export function describeModel(model: ModelConfig) {
  return {
    id: model.id,
    aliases: [...model.aliases, ...model.aliasPatterns],
    context_length: model.contextTokensMax,
    beta_context_length: model.betaContextTokensMax,
    ...(model.isEmbedding
      ? { embeddings: true, price: { input: model.price.input } }
      : { max_output_tokens: model.outputTokensMax, price: describePrice(model.price) }),
  };
}

export function describePrice(price: Price) {
  return {
    input: price.input,
    output: price.output,
    cache_read: price.cacheRead,
    cache_write_5m: price.cacheWrite5m,
    cache_write_1h: price.cacheWrite1h,
    web_search: price.webSearch,
  };
}
