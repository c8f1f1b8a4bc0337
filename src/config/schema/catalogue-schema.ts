import type { z } from 'zod';
import { DEFAULT_CONTEXT_LENGTH } from '../default-settings.ts';
import { listOf, name, namedText, prices, settingsMap, wholeNumber } from './schema-parts.ts';

export const TOKENS_MAX = 100_000_000;
export const UPSTREAMS_MAX = 64;
const REQUESTS_PER_MINUTE_MAX = 1_000_000;
const WEIGHT_MAX = 1_000;
const PRIORITY_MAX = 100;
const MODELS_MAX = 256;
const ALIASES_MAX = 32;

export const perMinute = wholeNumber(1, REQUESTS_PER_MINUTE_MAX);
export const tokenCount = wholeNumber(1, TOKENS_MAX);

const modelName = namedText(
  'a name of at most 128 letters, digits and . _ : - /, which does not end with /',
  /^[A-Za-z0-9](?:[A-Za-z0-9._:/-]{0,126}[A-Za-z0-9._:-])?$/,
);

const alias = namedText(
  'a name of at most 128 letters, digits and . _ : - /, which does not end with /; * stands for any others',
  /^[A-Za-z0-9*](?:[A-Za-z0-9._:*/-]{0,126}[A-Za-z0-9._:*-])?$/,
);

const model = settingsMap({
  id: modelName,
  aliases: listOf(alias, 'names', 0, ALIASES_MAX).prefault([]),
  context_length: tokenCount.prefault(DEFAULT_CONTEXT_LENGTH),
  beta_context_length: tokenCount.optional(),
  max_output_tokens: tokenCount,
  price: prices,
  routes: listOf(
    settingsMap({
      upstream: name,
      weight: wholeNumber(1, WEIGHT_MAX).prefault(1),
      priority: wholeNumber(1, PRIORITY_MAX).prefault(1),
    }),
    'routes',
    1,
    UPSTREAMS_MAX,
  ).optional(),
});

export const models = listOf(model, 'models', 1, MODELS_MAX);

export const plans = settingsMap({
  starter: perMinute.prefault(60),
  pro: perMinute.prefault(300),
  business: perMinute.prefault(1_000),
  team: perMinute.prefault(2_000),
});

/** What is sold, as one document: the same maps as in the settings file. */
export const catalogueSchema = settingsMap({ plans, models });

export type CatalogueDocument = z.output<typeof catalogueSchema>;
