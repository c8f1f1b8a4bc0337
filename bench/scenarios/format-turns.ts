/**
 * `format-turns [ROUNDS]` tells what clients of each format cost a worker in front of a native
 * upstream, in turns: neighbours of the machine then spoil all figures alike, and the ratio stays.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORMAT_NAMES } from '../../src/protocol/format-names.ts';
import { type Aim, aimAt } from '../compare/aim.ts';
import { createTollgate } from '../compare/contestants/tollgate.ts';
import { readCpuNanos } from '../compare/figures/cpu-times.ts';
import { runWrk } from '../compare/generators/run-wrk.ts';
import { pinBench } from '../compare/pinned-process.ts';
import type { ApiFormat, Running, UpstreamAnswer } from '../compare/scenario.ts';
import { startUpstream } from '../compare/upstream/start-upstream.ts';
import { medianOf } from '../support/median-of.ts';
import { writeResult } from '../support/write-result.ts';

const ROUNDS = Number(process.argv[3] ?? 7);
const SECONDS = 3;
const WARM_UP_SECONDS = 8;
const CONNECTIONS = 64;
const NANOS_PER_MICRO = 1_000;
const ANSWERS = { 'a whole answer': 0, 'a burst of 50 events': 50 };

const CASE = {
  ...{ bodyBytes: 512, status: 200 },
  load: { kind: 'closed-loop', generator: 'wrk', connections: CONNECTIONS },
} as const;

interface Costs {
  readonly format: ApiFormat;
  readonly micros: number[];
}

/** CPU time of the workers for each request, in microseconds. */
async function load(running: Running, aim: Aim, seconds: number): Promise<number> {
  let nanos = 0;
  const meter = {
    begin: () => {
      nanos = -readCpuNanos(running.pids());
    },
    end: () => {
      nanos += readCpuNanos(running.pids());
    },
  };
  const { units, failures } = await runWrk(aim, CONNECTIONS, seconds, meter);
  if (failures > 0) throw new Error(`${failures} requests to ${aim.path} failed`);
  return nanos / NANOS_PER_MICRO / units;
}

async function measure(dir: string, answer: UpstreamAnswer): Promise<readonly Costs[]> {
  const upstream = await startUpstream(answer);
  const running = await createTollgate().start({ dir, upstreamPort: upstream.port });
  try {
    const turns = FORMAT_NAMES.map((format) => {
      const own = join(dir, format);
      mkdirSync(own);
      const aim = aimAt(running, { name: format, format, ...CASE }, answer, own);
      if (aim === undefined) throw new Error(`${format} has no route`);
      return { aim, costs: { format, micros: [] as number[] } };
    });
    for (const { aim } of turns) await load(running, aim, WARM_UP_SECONDS);
    for (let round = 0; round < ROUNDS; round++) {
      for (const { aim, costs } of turns) costs.micros.push(await load(running, aim, SECONDS));
    }
    return turns.map(({ costs }) => costs);
  } finally {
    await running.stop();
    await upstream.stop();
  }
}

pinBench();
const dir = mkdtempSync(join(tmpdir(), 'tollgate-formats-'));
try {
  const rows: string[] = [];
  const results: Record<string, readonly Costs[]> = {};
  for (const [name, events] of Object.entries(ANSWERS)) {
    const costs = await measure(join(dir, `${events}`), { latencyMs: 0, events, gapMs: 0 });
    results[name] = costs;
    const first = medianOf(costs[0]?.micros ?? []);
    for (const { format, micros } of costs) {
      const all = micros.map((value) => value.toFixed(0)).join(', ');
      const ratio = (medianOf(micros) / first).toFixed(2);
      rows.push(`| ${name} | ${format} | ${medianOf(micros).toFixed(0)} | ${ratio} | ${all} |`);
    }
  }
  const head = [
    '| answer | clients | us of CPU | times the first | each turn |',
    '|---|---|--:|--:|---|',
  ];
  writeResult('format-turns', [...head, ...rows].join('\n'), { results });
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit();
