import { z } from 'zod';
import { operatorAnswer } from './answer-schemas.ts';

const count = z.int().min(0);
const quantiles = z.strictObject({ p50: z.number(), p90: z.number(), p99: z.number() });

const summaryData = z.strictObject({
  requests: count,
  refused: count,
  refusals: z.record(z.string(), count),
  streams: count,
  credits: z.number(),
  open: count,
  latency_ms: quantiles.nullable(),
  first_event_ms: quantiles.nullable(),
});

export type SummaryData = z.infer<typeof summaryData>;

/** The schema of the data of each event, by type. */
export const EVENT_SCHEMAS = {
  change: z.strictObject({
    what: z.string(),
    who: operatorAnswer,
    node: z.string(),
    account: z.string().nullable(),
    key: z.string().nullable(),
    outcome: z.enum(['done', 'unknown']),
    before: z.looseObject({}).nullable(),
    after: z.looseObject({}).nullable(),
  }),
  reload: z.strictObject({
    status: z.string(),
    config_version: z.string().optional(),
    problems: z.array(z.string()).optional(),
    who: operatorAnswer,
  }),
  worker: z.strictObject({
    worker: count,
    pid: count,
    state: z.enum(['started', 'listening', 'ended', 'died']),
    code: z.int().nullable().optional(),
    signal: z.string().nullable().optional(),
  }),
  upstream: z.strictObject({ upstream: z.string(), state: z.string(), before: z.string() }),
  summary: summaryData,
  /** Sent only to a subscriber that reads too slowly. */
  missed: z.strictObject({ events: count }),
} as const;

/** One event of the stream: its type and its data. */
export const eventAnswer = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('change'), data: EVENT_SCHEMAS.change }),
  z.strictObject({ event: z.literal('reload'), data: EVENT_SCHEMAS.reload }),
  z.strictObject({ event: z.literal('worker'), data: EVENT_SCHEMAS.worker }),
  z.strictObject({ event: z.literal('upstream'), data: EVENT_SCHEMAS.upstream }),
  z.strictObject({ event: z.literal('summary'), data: EVENT_SCHEMAS.summary }),
  z.strictObject({ event: z.literal('missed'), data: EVENT_SCHEMAS.missed }),
]);

export type NodeEvent = z.infer<typeof eventAnswer>;
