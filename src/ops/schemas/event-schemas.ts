import { z } from 'zod';
import { whoAnswer } from './answer-schemas.ts';
import { trafficParts } from './cluster-schemas.ts';
import { limitEventParts } from './limit-event-schemas.ts';

const count = z.int().min(0);
const summaryData = z.strictObject({
  /** Null if these are the sums of all nodes. */
  node: z.string().nullable(),
  /** How many nodes reported this second. */
  nodes: count,
  ...trafficParts,
});

export type SummaryData = z.infer<typeof summaryData>;

/** The schema of the data of each event, by type. */
export const EVENT_SCHEMAS = {
  change: z.strictObject({
    what: z.string(),
    who: whoAnswer,
    node: z.string(),
    account: z.string().nullable(),
    key: z.string().nullable(),
    outcome: z.enum(['done', 'unknown']),
    before: z.looseObject({}).nullable(),
    after: z.looseObject({}).nullable(),
  }),
  reload: z.strictObject({
    node: z.string(),
    status: z.string(),
    config_version: z.string().optional(),
    problems: z.array(z.string()).optional(),
    who: whoAnswer,
  }),
  worker: z.strictObject({
    node: z.string(),
    worker: count,
    pid: count,
    state: z.enum(['started', 'listening', 'ended', 'died']),
    code: z.int().nullable().optional(),
    signal: z.string().nullable().optional(),
  }),
  upstream: z.strictObject({
    node: z.string(),
    upstream: z.string(),
    state: z.string(),
    before: z.string(),
  }),
  /** A limit warns or is reached, a balance is low or exhausted. */
  limit: z.strictObject({ node: z.string(), ...limitEventParts }),
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
  z.strictObject({ event: z.literal('limit'), data: EVENT_SCHEMAS.limit }),
  z.strictObject({ event: z.literal('summary'), data: EVENT_SCHEMAS.summary }),
  z.strictObject({ event: z.literal('missed'), data: EVENT_SCHEMAS.missed }),
]);

export type NodeEvent = z.infer<typeof eventAnswer>;
