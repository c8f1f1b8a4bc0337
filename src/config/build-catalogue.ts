import type { Price } from '../catalogue/catalogue.ts';
import { isNamePattern } from '../lib/name-pattern.ts';
import { encodeLimits } from '../limits/encode-limits.ts';
import type { PlanLimits } from '../protocol/admission.ts';
import type { CatalogueConfig, ModelConfig, NamedUpstream } from './config.ts';
import { CACHE_PRICE_FACTORS } from './default-settings.ts';
import type { CatalogueDocument } from './schema/catalogue-schema.ts';
import { readLimit } from './schema/limit-schemas.ts';

type ModelSettings = CatalogueDocument['models'][number];

export function buildCatalogue(
  { plans, models }: CatalogueDocument,
  upstreams: readonly NamedUpstream[],
): CatalogueConfig {
  return { plans: mapPlans(plans), models: models.map((model) => buildModel(model, upstreams)) };
}

function mapPlans(plans: CatalogueDocument['plans']): PlanLimits {
  const buildPlan = (plan: (typeof plans)[string]) =>
    typeof plan === 'number'
      ? plan
      : { requests: plan.requests, list: encodeLimits(plan.limits.map(readLimit)) };
  return Object.fromEntries(
    Object.entries(plans).map(([name, plan]) => [name, buildPlan(plan)] as const),
  );
}

function buildModel(model: ModelSettings, upstreams: readonly NamedUpstream[]): ModelConfig {
  const isEmbedding = model.embeddings === true;
  const usual = listUsualUpstreams({ isEmbedding }, upstreams);
  return {
    id: model.id,
    aliases: model.aliases.filter((alias) => !isNamePattern(alias)),
    aliasPatterns: model.aliases.filter(isNamePattern),
    contextTokensMax: model.context_length,
    betaContextTokensMax: model.beta_context_length,
    outputTokensMax: model.max_output_tokens ?? 0,
    isEmbedding,
    price: buildPrice(model.price),
    routes: model.routes ?? usual.map(({ name }) => ({ upstream: name, weight: 1, priority: 1 })),
  };
}

/**
 * A model without routes leads to all upstreams of the node that can serve it. Where there are
 * real ones, it leads to no simulation: simulated answers are not worth their price.
 */
export function listUsualUpstreams(
  { isEmbedding }: Pick<ModelConfig, 'isEmbedding'>,
  upstreams: readonly NamedUpstream[],
): readonly NamedUpstream[] {
  const able = upstreams.filter(({ kind }) => !isEmbedding || kind !== 'native');
  const real = able.filter(({ kind }) => kind !== 'simulated');
  return real.length > 0 ? real : able;
}

/** Fills in the prices that follow from the input price. */
export function buildPrice(price: ModelSettings['price']): Price {
  const timesInput = (factor: number) => roundPrice(price.input * factor);
  return {
    input: price.input,
    output: price.output ?? 0,
    cacheRead: price.cache_read ?? timesInput(CACHE_PRICE_FACTORS.read),
    cacheWrite5m: price.cache_write_5m ?? timesInput(CACHE_PRICE_FACTORS.write5m),
    cacheWrite1h: price.cache_write_1h ?? timesInput(CACHE_PRICE_FACTORS.write1h),
    webSearch: price.web_search,
  };
}

/** 3 * 0.1 is 0.30000000000000004 in binary. Such a price is never meant, so it is rounded. */
function roundPrice(price: number): number {
  return Math.round(price * 1e9) / 1e9;
}
