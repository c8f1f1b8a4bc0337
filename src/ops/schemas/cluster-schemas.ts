import { z } from 'zod';

const count = z.int().min(0);
const time = z.iso.datetime();

const REDIS_STATES = ['up', 'out', 'unknown'] as const;
const MEMBER_STATES = ['up', 'draining', 'gone'] as const;
export const RELOAD_STATUSES = ['reloaded', 'refused', 'failed', 'skipped', 'silent'] as const;

/** A node in full. */
export const nodeParts = {
  node: z.strictObject({
    id: z.string(),
    version: z.string(),
    started_at: time,
    config: z.strictObject({ path: z.string().nullable(), version: z.string() }),
  }),
  workers: z.array(
    z.strictObject({ worker: count, pid: count, state: z.string(), started_at: time }),
  ),
  upstreams: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.string(),
      url: z.string().nullable(),
      models: z.array(z.string()),
      state: z.string(),
      probe: z
        .strictObject({ path: z.string(), state: z.string(), last_result: z.string().nullable() })
        .nullable(),
      workers: z.array(
        z.strictObject({
          worker: count,
          pid: count,
          state: z.string(),
          in_flight: count,
          max_concurrency: count,
          rest_ms: count,
        }),
      ),
      tries: z.record(z.string(), count),
    }),
  ),
  redis: z.strictObject({
    state: z.enum(REDIS_STATES),
    embedded: z.boolean(),
    topology: z.string(),
    out_for_ms: z.number(),
  }),
};

/** A node as the fleet knows it. */
const memberAnswer = z.strictObject({
  id: z.string(),
  state: z.enum(MEMBER_STATES),
  /** Whether a node that is gone has announced its end. One that has not was lost. */
  has_ended: z.boolean(),
  heard_at: time,
  started_at: time,
  uptime_s: count,
  version: z.string(),
  ops_url: z.string().nullable(),
  config: z.strictObject({
    path: z.string().nullable(),
    version: z.string(),
    hash: z.string(),
  }),
  catalogue_version: count.nullable(),
  workers: z.strictObject({ up: count, wanted: count }),
  upstreams: z.array(z.strictObject({ name: z.string(), state: z.string() })),
  redis: z.strictObject({ state: z.enum(REDIS_STATES) }),
  is_ingesting: z.boolean(),
  /** How many buckets it sweeps. */
  sweeps: count,
  limits_format: count.optional(),
  open: count,
  requests_per_s: z.number(),
});

export const clusterAnswer = z.strictObject({
  answered_by: z.string(),
  /** `out`: Redis did not answer, so `nodes` has only the node that answers. */
  fleet: z.strictObject({ state: z.enum(['up', 'out']) }),
  nodes: z.array(memberAnswer),
  /** Whether the nodes that run have different ones. */
  versions_differ: z.strictObject({
    config: z.boolean(),
    catalogue: z.boolean(),
    version: z.boolean(),
  }),
  ...nodeParts,
});

export const nodeAnswer = z.strictObject({
  id: z.string(),
  state: z.enum(MEMBER_STATES),
  heard_at: time,
  ...nodeParts,
});

export const fleetReloadAnswer = z.strictObject({
  nodes: z.array(
    z.strictObject({
      id: z.string(),
      status: z.enum(RELOAD_STATUSES),
      config_version: z.string().optional(),
      problems: z.array(z.string()).optional(),
    }),
  ),
});

const quantiles = z.strictObject({ p50: z.number(), p90: z.number(), p99: z.number() });

/** What all requests together did in a span of time. */
export const trafficParts = {
  requests: count,
  refused: count,
  refusals: z.record(z.string(), count),
  streams: count,
  credits: z.number(),
  open: count,
  latency_ms: quantiles.nullable(),
  first_event_ms: quantiles.nullable(),
};

export const historyAnswer = z.strictObject({
  /** How many seconds each row covers. */
  seconds: count,
  data: z.array(
    z.strictObject({
      /** When the span of the row began. */
      at: time,
      /** How many nodes reported it. */
      nodes: count,
      ...trafficParts,
    }),
  ),
});

export type Member = z.infer<typeof memberAnswer>;
export type HistoryRow = z.infer<typeof historyAnswer>['data'][number];
export type NodeReload = z.infer<typeof fleetReloadAnswer>['nodes'][number];
