import type { Command } from 'commander';
import { SECOND_MS } from '../../lib/units/time-units.ts';
import { listProblems } from '../../top/build-fleet-view.ts';
import { type FleetNode, type FleetPage, readFleet } from '../../top/read-fleet.ts';
import { renderUptime } from '../../top/render-parts.ts';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { ABSENT, printTable } from '../print-table.ts';

/** A breaker that is closed lets requests through. */
const SOUND_STATE = 'closed';

interface ClusterData {
  readonly answered_by?: unknown;
  readonly fleet?: unknown;
  readonly nodes?: unknown;
  readonly versions_differ?: unknown;
}

export function registerNodesCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('nodes'))
    .description('all nodes on one Redis: state, versions, workers, upstreams')
    .action((options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const answer = await client.call<ClusterData>('GET', '/cluster');
        const { answered_by, fleet, nodes, versions_differ } = answer;
        const data = { answered_by, fleet, nodes, versions_differ };
        return { data, text: printNodes(readFleet(answer), Date.now()) };
      }),
    );
}

function printNodes(fleet: FleetPage, nowMs: number): string {
  const head = [
    ...['NODE', 'STATE', 'UP', 'VERSION', 'SETTINGS', 'CATALOGUE', 'WORKERS', 'UPSTREAMS'],
    ...['REDIS', 'REQUESTS/S', 'OPEN', 'DUTIES', 'ADDRESS'],
  ];
  const table = printTable([head, ...fleet.nodes.map((node) => printNode(node, nowMs))]);
  const answered = fleet.nodes.length > 1 ? [`answered by ${fleet.answeredBy ?? ABSENT}`] : [];
  return [table, ...listProblems(fleet), ...answered].join('\n');
}

/** For a node that is gone, leaves out what only a running one has. */
function printNode(node: FleetNode, nowMs: number): string[] {
  const isGone = node.state === 'gone';
  const now = (text: string) => (isGone ? ABSENT : text);
  return [
    node.id ?? ABSENT,
    isGone ? `gone, heard ${printAge(node.heardMs, nowMs)} ago` : (node.state ?? ABSENT),
    now(renderUptime(node.uptimeSeconds ?? null)),
    node.version ?? ABSENT,
    node.configVersion ?? ABSENT,
    String(node.catalogueVersion ?? ABSENT),
    now(`${node.workersUp ?? ABSENT}/${node.workersWanted ?? ABSENT}`),
    now(printUpstreams(node.upstreams)),
    now(node.redisState ?? ABSENT),
    now(String(node.requestsPerSecond ?? ABSENT)),
    now(String(node.open ?? ABSENT)),
    now(printDuties(node)),
    node.opsUrl ?? ABSENT,
  ];
}

function printAge(heardMs: number | undefined, nowMs: number): string {
  if (heardMs === undefined) return renderUptime(null);
  return renderUptime(Math.max(0, Math.floor((nowMs - heardMs) / SECOND_MS)));
}

/** Names only the upstreams that something is wrong with. */
function printUpstreams(upstreams: FleetNode['upstreams']): string {
  const troubled = upstreams.filter(({ state }) => state !== SOUND_STATE);
  const sound = upstreams.length - troubled.length;
  return (
    [
      ...troubled.map(({ name, state }) => `${name} ${state}`),
      ...(sound > 0 ? [`${sound} ${SOUND_STATE}`] : []),
    ].join(', ') || ABSENT
  );
}

function printDuties({ isIngesting, sweeps = 0 }: FleetNode): string {
  const duties = [
    ...(isIngesting ? ['fills the books'] : []),
    ...(sweeps > 0 ? [`sweeps ${sweeps} buckets`] : []),
  ];
  return duties.join(', ') || ABSENT;
}
