/** The defaults of settings, under the names that the file uses. */
export const DEFAULT_LISTEN = '0.0.0.0:8080';
export const DEFAULT_OPS_LISTEN = '127.0.0.1:9400';
export const DEFAULT_DATA_DIR = './.tollgate';
export const DEFAULT_CONTEXT_LENGTH = 200_000;
/** The models that see images best scale larger ones down to 4,784 tokens. */
export const DEFAULT_IMAGE_TOKENS = 4_800;

export const DEFAULT_END_USER_SOURCES = ['metadata.user_id', 'safety_identifier', 'user'] as const;

/** Requests in `limits.rate_window`, per account. */
export const DEFAULT_PLANS = { starter: 60, pro: 300, business: 1_000, team: 2_000 };

export const DEFAULT_MODELS = [
  {
    id: 'llm-opus-4.7',
    aliases: ['opus'],
    beta_context_length: 1_000_000,
    max_output_tokens: 32_000,
    price: { input: 5, output: 25 },
  },
  {
    id: 'llm-sonnet-4.6',
    aliases: ['sonnet'],
    max_output_tokens: 16_384,
    price: { input: 3, output: 15 },
  },
  {
    id: 'llm-haiku-4.5',
    aliases: ['haiku'],
    max_output_tokens: 8_192,
    price: { input: 1, output: 5 },
  },
];

export const DEFAULT_UPSTREAMS = [{ name: 'simulated', kind: 'simulated' as const }];

/** Cache prices that a model does not state follow from its input price by these factors. */
export const CACHE_PRICE_FACTORS = { read: 0.1, write5m: 1.25, write1h: 2 };

/**
 * What an upstream of each kind accepts unless its settings say otherwise: what today's models
 * accept.
 */
export const DEFAULT_ACCEPTS = {
  native: ['pdf', 'effort', 'system_messages'],
  chat: ['effort'],
  responses: ['pdf', 'effort', 'encrypted_reasoning'],
  simulated: [],
} as const;
