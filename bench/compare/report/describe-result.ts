import type { Figures, Spread } from '../figures/round.ts';
import type { CaseResult } from '../run-stage.ts';
import type { Scenario } from '../scenario.ts';
import { showNumber } from './show-number.ts';
import type { ComparisonResult } from './write-report.ts';

/** The bare proxy with which all other contestants are compared. */
const YARDSTICK = 'nginx';
const NONE = '-';
const REASON_CHARS_MAX = 160;
const COMPARED = ['p50', 'p99'];

interface Column {
  readonly head: string;
  cell(figures: Figures, all: Readonly<Record<string, Figures>>): string;
}

export function describeResult({ scenario, measuredAt, machine, cases }: ComparisonResult): string {
  const { name, title, shows, seconds, rounds, unit } = scenario;
  const versions = Object.entries(machine.versions).map(([what, version]) => `${what} ${version}`);
  const pinned = machine.isPinned
    ? 'contestant alone on core 0; load, upstream and Redis on core 1'
    : 'NOTHING PINNED: there is one CPU only';
  return `# ${name}: ${title}

${shows}

${cases.map((each) => describeCase(each, scenario)).join('\n')}
Medians (smallest - largest) of ${rounds} rounds of ${seconds} s in turn; "us" is CPU time of the contestant for one ${unit}.
"busy" is the share of its core. Well below 100 % something else was the limit: then units a second say nothing, and the\nCPU time has more wake-ups in it than at full load.

${measuredAt}, commit ${machine.commit}. ${machine.cpus} CPUs, ${machine.model}, ${machine.memoryGb} GB, Linux ${machine.kernel}, guest_halt_poll_ns ${machine.haltPoll}; ${pinned}.
${versions.join(', ')}.
`;
}

function describeCase({ name, figures }: CaseResult, scenario: Scenario): string {
  const columns = chooseColumns(Object.values(figures), scenario);
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = Object.entries(figures).map(([contestant, each]) =>
    row([contestant, ...columns.map(({ cell }) => cell(each, figures))]),
  );
  const failures = Object.entries(figures).flatMap(([contestant, { failure }]) =>
    failure === undefined ? [] : [`- ${contestant}: ${shorten(failure)}`],
  );
  const head = [
    row(['', ...columns.map(({ head }) => head)]),
    `|---|${'--:|'.repeat(columns.length)}`,
  ];
  return [`## ${name}`, '', ...head, ...rows, '', ...failures, ''].join('\n');
}

function chooseColumns(all: readonly Figures[], { unit, comparesLatency }: Scenario): Column[] {
  const namesOf = (pick: (figures: Figures) => object) => [
    ...new Set(all.flatMap((figures) => Object.keys(pick(figures)))),
  ];
  const columns: readonly Column[] = [
    { head: `us per ${unit}`, cell: ({ cpuMicros }) => showSpread(cpuMicros) },
    { head: `x ${YARDSTICK}`, cell: showRatio },
    { head: `${unit}s/s`, cell: ({ unitsPerSecond }) => showNumber(unitsPerSecond.median) },
    { head: 'busy', cell: ({ busyShare }) => `${Math.round(busyShare.median * 100)} %` },
    ...namesOf(({ latencyMs }) => latencyMs).map((name) => ({
      head: `${name} ms`,
      cell: ({ latencyMs }: Figures) => showMedian(latencyMs[name]),
    })),
    ...(comparesLatency === true ? COMPARED : []).map((name) => ({
      head: `${name} over ${YARDSTICK}`,
      cell: (figures: Figures, every: Readonly<Record<string, Figures>>) =>
        showAdded(name, figures, every),
    })),
    { head: 'RSS MB', cell: ({ residentMb }) => showNumber(residentMb.median) },
    ...namesOf(({ sideMicros }) => sideMicros).map((name) => ({
      head: `${name} us`,
      cell: ({ sideMicros }: Figures) => showMedian(sideMicros[name]),
    })),
    ...namesOf(({ details }) => details).map((name) => ({
      head: name,
      cell: ({ details }: Figures) => showMedian(details[name]),
    })),
    { head: 'failures', cell: ({ failures }) => String(failures) },
    { head: 'rounds', cell: ({ roundsUsed, rounds }) => `${roundsUsed} of ${rounds.length}` },
    { head: 'load', cell: ({ generator }) => generator },
  ];
  return columns.map(({ head, cell }) => ({
    head,
    cell: (figures, every) => (figures.rounds.length === 0 ? NONE : cell(figures, every)),
  }));
}

function showRatio({ cpuMicros }: Figures, all: Readonly<Record<string, Figures>>): string {
  const yardstick = all[YARDSTICK]?.cpuMicros.median ?? 0;
  return yardstick > 0 ? (cpuMicros.median / yardstick).toFixed(1) : NONE;
}

function showAdded(
  name: string,
  { latencyMs }: Figures,
  all: Readonly<Record<string, Figures>>,
): string {
  const [own, least] = [latencyMs[name], all[YARDSTICK]?.latencyMs[name]];
  return own === undefined || least === undefined ? NONE : showNumber(own.median - least.median);
}

const showMedian = (spread: Spread | undefined) =>
  spread === undefined ? NONE : showNumber(spread.median);

function showSpread({ median, min, max }: Spread): string {
  return `**${showNumber(median)}** (${showNumber(min)} - ${showNumber(max)})`;
}

function shorten(reason: string): string {
  const line = reason.replaceAll(/\s+/g, ' ');
  return line.length > REASON_CHARS_MAX ? `${line.slice(0, REASON_CHARS_MAX)} ...` : line;
}
