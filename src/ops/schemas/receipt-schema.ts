import { z } from 'zod';

const ms = z.number();
const tokens = z.int().min(0);

/**
 * The details of a receipt, besides the amounts. Null if a detail was lost, absent while the
 * request runs.
 */
export const receiptDetails = {
  masked_key: z.string().nullable().optional(),
  kind: z.string().nullable().optional(),
  /** The cost of the request when its hold was last renewed. */
  seen: z.number().optional(),
  charged: z.number().optional(),
  short: z.number().optional(),
  balance_after: z.number().nullable().optional(),
  usage: z
    .looseObject({
      input: tokens,
      cache_read: tokens,
      cache_write_5m: tokens,
      cache_write_1h: tokens,
      output: tokens,
      searches: tokens,
      estimated: z.boolean(),
    })
    .nullable()
    .optional(),
  asked: z
    .looseObject({
      format: z.string(),
      stream: z.boolean(),
      body_bytes: z.number(),
      estimated_input_tokens: z.number(),
      max_tokens: z.number(),
    })
    .nullable()
    .optional(),
  config_version: z.string().nullable().optional(),
  /** Null if the settings file ruled the catalogue. */
  catalogue_version: z.int().nullable().optional(),
  price: z
    .looseObject({
      version: z.string(),
      input: z.number(),
      output: z.number(),
      cache_read: z.number(),
      cache_write_5m: z.number(),
      cache_write_1h: z.number(),
      /** Credits per thousand searches. Absent if the model had no price for them. */
      web_search: z.number().optional(),
    })
    .nullable()
    .optional(),
  answered: z
    .looseObject({
      upstream: z.string().nullable(),
      outcome: z.string(),
      status: z.number().nullable(),
      refusal: z.string().nullable(),
      /**
       * Whether the upstream reported more usage than the answer can have cost. Then `usage` is
       * what was charged.
       */
      usage_implausible: z.boolean(),
    })
    .nullable()
    .optional(),
  tries: z
    .array(z.looseObject({ upstream: z.string(), result: z.string() }))
    .nullable()
    .optional(),
  times: z
    .looseObject({
      started_at: z.iso.datetime(),
      body_ms: ms,
      admitted_ms: ms,
      first_event_ms: ms.nullable(),
      total_ms: ms,
      upstream_wait_ms: ms,
      client_wait_ms: ms,
    })
    .nullable()
    .optional(),
  /** One entry for each time that the request was settled, the oldest first. */
  ledger: z
    .array(
      z.looseObject({
        id: z.string(),
        time: z.string(),
        kind: z.string(),
        held: z.number(),
        charged: z.number(),
        short: z.number(),
        balance: z.number(),
      }),
    )
    .optional(),
};
