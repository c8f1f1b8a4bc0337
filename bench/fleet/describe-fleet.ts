import type { Spread } from './measure-changes.ts';
import type { FleetResult } from './run-fleet.ts';

const show = (value: number, digits = 1) => value.toFixed(digits);
const percent = (share: number) => `${show(share * 100)} %`;

export function describeFleet(result: FleetResult): string {
  return [
    describeLoad(result),
    describePurposes(result),
    describeChanges(result),
    describeEnd(result),
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function describeLoad({ idle, loaded }: FleetResult): string[] {
  return [
    '| | idle | load |',
    '|---|--:|--:|',
    `| commands/s of each node | ${show(idle.commandsPerNode)} | ${show(loaded.commandsPerNode)} |`,
    `| commands/s of all for all | ${show(idle.commandsShared)} | ${show(loaded.commandsShared)} |`,
    `| cores of the masters | ${show(idle.redisCores, 3)} | ${show(loaded.redisCores, 3)} |`,
    `| cores of all nodes | ${show(idle.nodeCores, 3)} | ${show(loaded.nodeCores, 3)} |`,
    `| connections to a master | ${idle.connections} | ${loaded.connections} |`,
    `| the busiest bucket's share of requests | | ${percent(loaded.busiestBucketShare)} |`,
  ];
}

function describePurposes({ idle, loaded }: FleetResult): string[] {
  const idleOf = new Map(idle.byPurpose);
  return [
    '| commands/s of all, what for | idle | load |',
    '|---|--:|--:|',
    ...loaded.byPurpose.map(
      ([purpose, perSecond]) =>
        `| ${purpose} | ${show(idleOf.get(purpose) ?? 0)} | ${show(perSecond)} |`,
    ),
  ];
}

function describeChanges({ calm, disturbed }: FleetResult): string[] {
  const row = (what: string, spreads: readonly Spread[]) => {
    const all = spreads.flatMap(({ delaysMs }) => delaysMs);
    const last = spreads.map(({ delaysMs }) => Math.max(0, ...delaysMs));
    const answered = spreads.map(({ answeredMs }) => answeredMs);
    const figures = [all, last, answered].flatMap((list) =>
      [0.5, 0.99, 1].map((share) => show(quantileOf(list, share), 0)),
    );
    return `| ${[what, spreads.length, ...figures].join(' | ')} |`;
  };
  return [
    '| ms after a change | changes | each node p50 | p99 | max | last node p50 | p99 | max | operator p50 | p99 | max |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    row('revocation', calm.revocations),
    row('catalogue', calm.catalogues),
    row('revocation, failover and restarts', disturbed.revocations),
    row('catalogue, failover and restarts', disturbed.catalogues),
  ];
}

function describeEnd(result: FleetResult): string[] {
  const { events, refusals, violations } = result;
  const refused = Object.entries(refusals).map(([name, count]) => `${name} ${count}`);
  return [
    '| | |',
    '|---|---|',
    `| servers | ${result.isIsolated ? 'each in a network namespace of its own' : 'all on 127.0.0.1'} |`,
    `| requests admitted, settled | ${events.admitted}, ${events.settled} |`,
    `| entries of these, charged, short | ${events.entries}, ${events.chargedMicros}, ${events.shortMicros} |`,
    `| refused | ${refused.join(', ')} |`,
    `| limits that were reached | ${events.fullLimits} |`,
    `| windows that a failover made longer | ${events.windowsLost} |`,
    `| share of the busiest account | ${percent(result.busiestAccountShare)} |`,
    `| nodes started anew | ${result.restarted} |`,
    `| another master after, no admission in its buckets for | ${result.failoverMs} ms, ${result.outageMs} ms |`,
    `| looks at a bucket | ${result.snapshots} |`,
    `| violations | ${violations.length === 0 ? 'none' : violations.map(({ check, text }) => `${check}: ${text}`).join('; ')} |`,
  ];
}

function quantileOf(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}
