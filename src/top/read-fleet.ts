import {
  toFields,
  toFieldsList,
  toNumber,
  toText,
  toTimeMs,
  type UnknownFields,
} from './read-fields.ts';

export interface FleetPage {
  /** The id of the node that was asked. */
  readonly answeredBy: string | undefined;
  /** `out`: Redis did not answer, so `nodes` has only the node that was asked. */
  readonly state: string | undefined;
  readonly nodes: readonly FleetNode[];
  /** In what the nodes that run differ: `config`, `catalogue`, `version`. */
  readonly differences: readonly string[];
}

export interface FleetNode {
  readonly id: string | undefined;
  readonly state: string | undefined;
  readonly heardMs: number | undefined;
  readonly uptimeSeconds: number | undefined;
  readonly version: string | undefined;
  readonly opsUrl: string | undefined;
  readonly configVersion: string | undefined;
  readonly catalogueVersion: number | undefined;
  readonly workersUp: number | undefined;
  readonly workersWanted: number | undefined;
  readonly upstreams: readonly { readonly name: string; readonly state: string }[];
  readonly redisState: string | undefined;
  readonly isIngesting: boolean;
  readonly sweeps: number | undefined;
  readonly open: number | undefined;
  readonly requestsPerSecond: number | undefined;
}

/** What all nodes together did in one second. Latencies are milliseconds. */
export interface FleetSummary {
  /** How many nodes reported it. */
  readonly nodes: number | undefined;
  readonly requests: number | undefined;
  readonly refused: number | undefined;
  readonly streams: number | undefined;
  readonly credits: number | undefined;
  readonly open: number | undefined;
  readonly latencyMs: SummaryQuantiles | undefined;
  readonly firstEventMs: SummaryQuantiles | undefined;
}

interface SummaryQuantiles {
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

/** Reads what `GET /admin/v1/cluster` says about all nodes. */
export function readFleet(body: unknown): FleetPage {
  const { answered_by: answeredBy, fleet, nodes, versions_differ: differ } = toFields(body);
  return {
    answeredBy: toText(answeredBy),
    state: toText(toFields(fleet)['state']),
    nodes: toFieldsList(nodes).map(readNode),
    differences: Object.entries(toFields(differ))
      .filter(([, isDifferent]) => isDifferent === true)
      .map(([what]) => what),
  };
}

function readNode(node: UnknownFields): FleetNode {
  return {
    id: toText(node['id']),
    state: toText(node['state']),
    heardMs: toTimeMs(node['heard_at']),
    uptimeSeconds: toNumber(node['uptime_s']),
    version: toText(node['version']),
    opsUrl: toText(node['ops_url']),
    configVersion: toText(toFields(node['config'])['version']),
    catalogueVersion: toNumber(node['catalogue_version']),
    workersUp: toNumber(toFields(node['workers'])['up']),
    workersWanted: toNumber(toFields(node['workers'])['wanted']),
    upstreams: toFieldsList(node['upstreams']).flatMap(({ name, state }) =>
      typeof name === 'string' && typeof state === 'string' ? [{ name, state }] : [],
    ),
    redisState: toText(toFields(node['redis'])['state']),
    isIngesting: node['is_ingesting'] === true,
    sweeps: toNumber(node['sweeps']),
    open: toNumber(node['open']),
    requestsPerSecond: toNumber(node['requests_per_s']),
  };
}

/** Reads the data of a `summary` of the events. */
export function readSummary(data: unknown): FleetSummary {
  const summary = toFields(data);
  return {
    nodes: toNumber(summary['nodes']),
    requests: toNumber(summary['requests']),
    refused: toNumber(summary['refused']),
    streams: toNumber(summary['streams']),
    credits: toNumber(summary['credits']),
    open: toNumber(summary['open']),
    latencyMs: readQuantiles(summary['latency_ms']),
    firstEventMs: readQuantiles(summary['first_event_ms']),
  };
}

function readQuantiles(value: unknown): SummaryQuantiles | undefined {
  const { p50, p99 } = toFields(value);
  return p50 === undefined ? undefined : { p50: toNumber(p50), p99: toNumber(p99) };
}
