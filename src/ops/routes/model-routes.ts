import type { ModelState } from '../model-state.ts';
import { modelsAnswer } from '../schemas/answer-schemas.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';

export interface ModelRoutesOptions {
  /** The models of the settings in use. */
  readonly readModels: () => readonly ModelState[];
}

export function createModelRoutes({ readModels }: ModelRoutesOptions): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/models',
      role: 'viewer',
      summary: 'The models, their windows, prices and routes',
      answer: modelsAnswer,
      handle: async () => ({ status: 200, body: { data: readModels().map(showModel) } }),
    }),
  ];
}

/** Windows and prices have the same names as in the settings. */
function showModel(model: ModelState) {
  const { id, aliases, aliasPatterns, price, routes, ...windows } = model;
  return {
    ...{ id, aliases: [...aliases, ...aliasPatterns] },
    context_length: windows.contextTokensMax,
    beta_context_length: windows.betaContextTokensMax ?? null,
    max_output_tokens: windows.outputTokensMax,
    embeddings: windows.isEmbedding,
    price: {
      input: price.input,
      output: price.output,
      cache_read: price.cacheRead,
      cache_write_5m: price.cacheWrite5m,
      cache_write_1h: price.cacheWrite1h,
      web_search: price.webSearch ?? null,
    },
    routes: routes.map(({ upstream, weight, priority }) => ({ upstream, weight, priority })),
  };
}
