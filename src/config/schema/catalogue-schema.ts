import { z } from 'zod';
import { isObject } from '../../protocol/schema.ts';
import { DEFAULT_CONTEXT_LENGTH, DEFAULT_PLANS } from '../default-settings.ts';
import { writtenLimits } from './limit-schemas.ts';
import {
  expected,
  listOf,
  modelPrices,
  name,
  namedText,
  settingsMap,
  trueOrFalse,
  wholeNumber,
} from './schema-parts.ts';

export const TOKENS_MAX = 100_000_000;
export const UPSTREAMS_MAX = 64;
const REQUESTS_PER_MINUTE_MAX = 1_000_000;
const WEIGHT_MAX = 1_000;
const PRIORITY_MAX = 100;
const MODELS_MAX = 256;
const ALIASES_MAX = 32;
const PLANS_MAX = 100;

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
  embeddings: trueOrFalse().optional(),
  max_output_tokens: tokenCount.optional(),
  price: modelPrices,
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

const planTerms = settingsMap({ requests: perMinute, limits: writtenLimits.prefault([]) });

/** A number alone means the requests. */
const plan = z
  .unknown()
  .meta({ description: 'requests in a rate window, or a map of them and further limits' })
  .transform((value, context) => {
    const { success, data, error } = (isObject(value) ? planTerms : perMinute).safeParse(value);
    if (success) return data;
    for (const issue of error.issues) context.addIssue({ ...issue });
    return z.NEVER;
  });

const plansError = expected('a map of settings');
const PLAN_NAME = /^[a-z][a-z0-9_-]{0,31}$/;

/** The default plans may get other terms, and there may be more plans. */
export const plans = z
  .record(z.string(), plan, { error: plansError })
  .transform((given): typeof given => ({ ...DEFAULT_PLANS, ...given }))
  .superRefine((all, context) => {
    for (const name of Object.keys(all)) {
      if (PLAN_NAME.test(name)) continue;
      const message = 'a plan is named by a small letter and at most 31 more, digits, _ or -';
      context.addIssue({ code: 'custom', path: [name], message });
    }
    if (Object.keys(all).length > PLANS_MAX) {
      context.addIssue({ code: 'custom', message: `must have at most ${PLANS_MAX} plans` });
    }
  });

/** What is sold, as one document: the same maps as in the settings file. */
export const catalogueSchema = settingsMap({ plans, models });

export type CatalogueDocument = z.output<typeof catalogueSchema>;
