import type { FleetNodeRow, FleetView } from './build-fleet-view.ts';
import {
  fitLines,
  renderNumber,
  renderQuantiles,
  renderTable,
  renderUptime,
  type ScreenSize,
  UNKNOWN,
  wrapParts,
} from './render-parts.ts';

/** The lines of a screen about all nodes. They fit on the screen. */
export function renderFleet(view: FleetView, size: ScreenSize): string[] {
  const lines = [
    `tollgate top --all  nodes ${renderCounts(view.states)}`,
    ...view.problems.map((problem) => `! ${problem}`),
    '',
    ...wrapParts(
      [
        `requests/s ${renderNumber(view.requests_per_second)}`,
        `refused/s ${renderNumber(view.refused_per_second)}`,
        `streams/s ${renderNumber(view.streams_per_second)}`,
        `open ${renderNumber(view.open)}`,
        `credits/s ${renderNumber(view.credits_per_second)}`,
      ],
      size.columns,
    ),
    ...wrapParts(
      [
        `latency ${renderQuantiles(view.latency_seconds)}`,
        `first event ${renderQuantiles(view.first_event_seconds)}`,
      ],
      size.columns,
    ),
    `workers ${view.workers_up}/${view.workers_wanted}`,
    '',
    ...renderTable(
      ['upstream', 'nodes that see it so'],
      view.upstreams.map(({ name, states }) => [name, renderCounts(states)]),
    ),
    '',
    ...renderTable(
      ['node', 'state', 'requests/s', 'open', 'workers', 'version', 'settings', 'up'],
      view.nodes.map(renderNode),
    ),
  ];
  return fitLines(lines, size);
}

function renderNode(node: FleetNodeRow): string[] {
  const isGone = node.state === 'gone';
  return [
    node.id ?? UNKNOWN,
    node.state ?? UNKNOWN,
    isGone ? UNKNOWN : renderNumber(node.requests_per_second),
    isGone ? UNKNOWN : renderNumber(node.open),
    isGone ? UNKNOWN : `${renderNumber(node.workers_up)}/${renderNumber(node.workers_wanted)}`,
    node.version ?? UNKNOWN,
    node.config_version ?? UNKNOWN,
    isGone ? UNKNOWN : renderUptime(node.uptime_seconds),
  ];
}

function renderCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return parts.join(', ') || UNKNOWN;
}
