import type { Quantiles } from './build-view.ts';
import type { FleetNode, FleetPage, FleetSummary } from './read-fleet.ts';

type OrNull<Value> = Value | null;

export interface FleetNodeRow {
  readonly id: OrNull<string>;
  readonly state: OrNull<string>;
  readonly version: OrNull<string>;
  readonly config_version: OrNull<string>;
  readonly workers_up: OrNull<number>;
  readonly workers_wanted: OrNull<number>;
  readonly requests_per_second: OrNull<number>;
  readonly open: OrNull<number>;
  readonly uptime_seconds: OrNull<number>;
}

interface FleetUpstreamRow {
  readonly name: string;
  /** How many nodes see it in each state. */
  readonly states: Readonly<Record<string, number>>;
}

/** Everything that is shown of a fleet, as `--json` prints it. Null if it is not known. */
export interface FleetView {
  readonly answered_by: OrNull<string>;
  /** How many nodes are in each state. */
  readonly states: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
  readonly requests_per_second: OrNull<number>;
  readonly refused_per_second: OrNull<number>;
  readonly streams_per_second: OrNull<number>;
  readonly credits_per_second: OrNull<number>;
  readonly open: OrNull<number>;
  readonly latency_seconds: Quantiles;
  readonly first_event_seconds: Quantiles;
  readonly workers_up: number;
  readonly workers_wanted: number;
  readonly upstreams: readonly FleetUpstreamRow[];
  readonly nodes: readonly FleetNodeRow[];
}

const SECOND_MS = 1_000;
const WORDS: Readonly<Record<string, string>> = { config: 'settings' };

/** Counts of the summary are those of one second. */
export function buildFleetView(fleet: FleetPage, summary: FleetSummary | undefined): FleetView {
  const here = fleet.nodes.filter(({ state }) => state !== 'gone');
  return {
    answered_by: fleet.answeredBy ?? null,
    states: countBy(fleet.nodes.map(({ state }) => state ?? 'unknown')),
    problems: listProblems(fleet),
    requests_per_second: summary?.requests ?? null,
    refused_per_second: summary?.refused ?? null,
    streams_per_second: summary?.streams ?? null,
    credits_per_second: summary?.credits ?? null,
    open: summary?.open ?? null,
    latency_seconds: toSeconds(summary?.latencyMs),
    first_event_seconds: toSeconds(summary?.firstEventMs),
    workers_up: here.reduce((sum, { workersUp = 0 }) => sum + workersUp, 0),
    workers_wanted: here.reduce((sum, { workersWanted = 0 }) => sum + workersWanted, 0),
    upstreams: viewUpstreams(here),
    nodes: fleet.nodes.map(viewNode),
  };
}

/** What is wrong with the nodes as a whole. */
export function listProblems({ state, differences }: FleetPage): string[] {
  return [
    ...(state === 'out' ? ['Redis does not answer, so other nodes are not known'] : []),
    ...differences.map((what) => `the nodes differ in their ${WORDS[what] ?? what}`),
  ];
}

function viewUpstreams(nodes: readonly FleetNode[]): FleetUpstreamRow[] {
  const seen = nodes.flatMap(({ upstreams }) => upstreams);
  return [...new Set(seen.map(({ name }) => name))].map((name) => ({
    name,
    states: countBy(seen.filter((each) => each.name === name).map(({ state }) => state)),
  }));
}

function viewNode(node: FleetNode): FleetNodeRow {
  return {
    id: node.id ?? null,
    state: node.state ?? null,
    version: node.version ?? null,
    config_version: node.configVersion ?? null,
    workers_up: node.workersUp ?? null,
    workers_wanted: node.workersWanted ?? null,
    requests_per_second: node.requestsPerSecond ?? null,
    open: node.open ?? null,
    uptime_seconds: node.uptimeSeconds ?? null,
  };
}

function toSeconds(ms: FleetSummary['latencyMs']): Quantiles {
  const inSeconds = (value: number | undefined) => (value === undefined ? null : value / SECOND_MS);
  return { p50: inSeconds(ms?.p50), p99: inSeconds(ms?.p99) };
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
