import { type Fields, fieldsOf, listOf, numberOf, textOf, timeOf } from './read-fields.ts';

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
  /** How many nodes told of it. */
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

/** Reads what `GET /admin/v1/cluster` says of all nodes. */
export function readFleet(body: unknown): FleetPage {
  const { answered_by: answeredBy, fleet, nodes, versions_differ: differ } = fieldsOf(body);
  return {
    answeredBy: textOf(answeredBy),
    state: textOf(fieldsOf(fleet)['state']),
    nodes: listOf(nodes).map(readNode),
    differences: Object.entries(fieldsOf(differ))
      .filter(([, isDifferent]) => isDifferent === true)
      .map(([what]) => what),
  };
}

function readNode(node: Fields): FleetNode {
  return {
    id: textOf(node['id']),
    state: textOf(node['state']),
    heardMs: timeOf(node['heard_at']),
    uptimeSeconds: numberOf(node['uptime_s']),
    version: textOf(node['version']),
    opsUrl: textOf(node['ops_url']),
    configVersion: textOf(fieldsOf(node['config'])['version']),
    catalogueVersion: numberOf(node['catalogue_version']),
    workersUp: numberOf(fieldsOf(node['workers'])['up']),
    workersWanted: numberOf(fieldsOf(node['workers'])['wanted']),
    upstreams: listOf(node['upstreams']).flatMap(({ name, state }) =>
      typeof name === 'string' && typeof state === 'string' ? [{ name, state }] : [],
    ),
    redisState: textOf(fieldsOf(node['redis'])['state']),
    isIngesting: node['is_ingesting'] === true,
    sweeps: numberOf(node['sweeps']),
    open: numberOf(node['open']),
    requestsPerSecond: numberOf(node['requests_per_s']),
  };
}

/** Reads the data of a `summary` of the events. */
export function readSummary(data: unknown): FleetSummary {
  const summary = fieldsOf(data);
  return {
    nodes: numberOf(summary['nodes']),
    requests: numberOf(summary['requests']),
    refused: numberOf(summary['refused']),
    streams: numberOf(summary['streams']),
    credits: numberOf(summary['credits']),
    open: numberOf(summary['open']),
    latencyMs: readQuantiles(summary['latency_ms']),
    firstEventMs: readQuantiles(summary['first_event_ms']),
  };
}

function readQuantiles(value: unknown): SummaryQuantiles | undefined {
  const { p50, p99 } = fieldsOf(value);
  return p50 === undefined ? undefined : { p50: numberOf(p50), p99: numberOf(p99) };
}
