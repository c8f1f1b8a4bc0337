import { z } from 'zod';
import { AUDIT_VIAS } from '../../accounts/audit/audit-entry.ts';
import { answeredLimit } from '../../config/schema/limit-schemas.ts';
import { LIMIT_LEVELS } from '../../protocol/rates/limit-state.ts';
import { receiptDetails } from './receipt-schema.ts';

const count = z.int().min(0);
const time = z.iso.datetime();

export const accountAnswer = z.strictObject({
  id: z.string(),
  name: z.string(),
  plan: z.string(),
  status: z.string(),
  limits: z.array(answeredLimit),
  balance: z.number(),
  low_balance: z.number().nullable(),
  held: z.number(),
  created_at: time,
  version: count,
});

const bounds = {
  limits: z.array(answeredLimit),
  user_limits: z.array(answeredLimit),
  require_user: z.boolean(),
};

export const groupAnswer = z.strictObject({
  id: z.string(),
  account: z.string(),
  name: z.string(),
  ...bounds,
  created_at: time,
  version: count,
});
export const groupsAnswer = z.strictObject({ data: z.array(groupAnswer) });

const accountKey = {
  id: z.string(),
  account: z.string(),
  name: z.string(),
  last4: z.string(),
  status: z.string(),
  rpm: z.int().nullable(),
  models: z.array(z.string()).nullable(),
  monthly_cap: z.number().nullable(),
  concurrency: z.int().nullable(),
  group: z.string().nullable(),
  ...bounds,
  expires_at: time.nullable(),
  spent_this_month: z.number(),
  held: z.number(),
  created_at: time,
  rotated_at: time.nullable(),
  version: count,
};

const rate = z.strictObject({ limit: count, remaining: count, reset_at: time });
const usedLimit = z.strictObject({
  ...answeredLimit.shape,
  level: z.enum(LIMIT_LEVELS),
  used: z.number(),
  held: z.number(),
  reset_at: time,
});

/** The limits that all keys of an account or a group meet, with what is used of them. */
export const sharedLimitsAnswer = z.strictObject({
  account: z.string(),
  group: z.string().nullable(),
  rate_window_seconds: z.number(),
  rate,
  limits: z.array(usedLimit),
});

/** The answer of `GET /v1/key`, which describes the key that asks. */
export const keyLimitsAnswer = z.strictObject({
  object: z.literal('key'),
  id: z.string(),
  key: z.string(),
  expires_at: time.nullable(),
  models: z.array(z.string()).nullable(),
  rate_window_seconds: z.number(),
  rate: rate.nullable(),
  concurrency: z.int().nullable(),
  in_flight: count,
  month: z.string(),
  monthly_cap: z.number().nullable(),
  spent_this_month: z.number(),
  held: z.number(),
  account: z.strictObject({ id: z.string(), balance: z.number(), held: z.number(), rate }),
  limits: z.array(usedLimit),
});

export const keyAnswer = z.strictObject(accountKey);
export const keyCreatedAnswer = z.strictObject({ ...accountKey, key: z.string() });
export const keyRotatedAnswer = z.strictObject({
  ...accountKey,
  key: z.string(),
  replicated: count,
});
export const keyRevokedAnswer = z.strictObject({ ...accountKey, replicated: count });
export const keysAnswer = z.strictObject({ data: z.array(keyAnswer) });

export const accountsAnswer = z.strictObject({
  data: z.array(accountAnswer),
  next: z.string().nullable(),
});

export const paymentAnswer = z.strictObject({
  id: z.string(),
  account: z.string(),
  amount: z.number(),
  balance: z.number(),
  repeated: z.boolean(),
  replicated: count,
});

export const whoAnswer = z.strictObject({
  via: z.enum(AUDIT_VIAS),
  token: z.string().nullable(),
  address: z.string().nullable(),
  /** Null for the admin token, for a signal, and in entries of earlier versions. */
  operator: z.strictObject({ id: z.string(), name: z.string() }).nullable(),
});

export const auditAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      id: z.string(),
      at: time,
      what: z.string(),
      who: whoAnswer,
      node: z.string(),
      account: z.string().nullable(),
      key: z.string().nullable(),
      outcome: z.enum(['done', 'unknown']),
      before: z.looseObject({}).nullable(),
      after: z.looseObject({}).nullable(),
      changes: z.array(
        z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown() }),
      ),
    }),
  ),
  next: z.string().nullable(),
});

export const reloadAnswer = z.strictObject({
  status: z.enum(['reloaded', 'running']),
  config_version: z.string(),
  needs_restart: z.array(z.string()),
});

export const problemAnswer = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    fields: z.array(z.strictObject({ field: z.string(), message: z.string() })).optional(),
    problems: z.array(z.string()).optional(),
    needs_restart: z.array(z.string()).optional(),
  }),
});

export const modelsAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      id: z.string(),
      aliases: z.array(z.string()),
      context_length: count,
      beta_context_length: count.nullable(),
      max_output_tokens: count,
      embeddings: z.boolean(),
      price: z.strictObject({
        input: z.number(),
        output: z.number(),
        cache_read: z.number(),
        cache_write_5m: z.number(),
        cache_write_1h: z.number(),
        /** Credits per thousand searches. Null if the model does not search. */
        web_search: z.number().nullable(),
      }),
      routes: z.array(z.strictObject({ upstream: z.string(), weight: count, priority: count })),
    }),
  ),
});

/**
 * `running` with the held amount, or `ended` with everything that the ledger keeps about the
 * request.
 */
export const receiptAnswer = z.looseObject({
  id: z.string(),
  state: z.enum(['running', 'ended']),
  account: z.string().nullable(),
  account_name: z.string().nullable(),
  key: z.string().nullable(),
  key_name: z.string().nullable(),
  model: z.string().nullable(),
  month: z.string().nullable(),
  held: z.number(),
  ...receiptDetails,
});
