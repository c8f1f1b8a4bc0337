import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Aim } from '../aim.ts';
import { pinCommand } from '../pinned-process.ts';
import type { Meter, Outcome } from '../scenario.ts';

const run = promisify(execFile);
const GRACE_MS = 30_000;
const MICROS_PER_MS = 1_000;
const MICROS_PER_SECOND = 1e6;

/** The Lua expression with which the wrk script reads each latency. */
const LATENCIES = {
  p50: 'percentile(50)',
  p90: 'percentile(90)',
  p99: 'percentile(99)',
  p999: 'percentile(99.9)',
} as const;

interface WrkReport {
  readonly requests: number;
  readonly durationMicros: number;
  readonly badStatuses: number;
  readonly socketErrors: number;
  readonly latencyMicros: Readonly<Record<keyof typeof LATENCIES | 'max', number>>;
}

/** A closed loop in C: one thread, with one request at a time on each connection. */
export async function runWrk(
  aim: Aim,
  connections: number,
  seconds: number,
  meter: Meter,
): Promise<Outcome> {
  const script = join(aim.dir, 'load.lua');
  writeFileSync(script, encodeScript(aim));
  const size = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s'];
  const url = `http://127.0.0.1:${aim.port}${aim.path}`;
  const [program, args] = pinCommand('rest', ['wrk', ...size, '-s', script, url]);
  meter.begin();
  const { stdout } = await run(program, args, { timeout: seconds * 1_000 + GRACE_MS });
  meter.end();
  const report = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{'))) as WrkReport;
  const { requests, durationMicros, badStatuses, socketErrors, latencyMicros } = report;
  // wrk counts every status from 400 on as an error, and a refusal has such a status.
  const wrong = aim.status >= 400 ? requests - badStatuses : badStatuses;
  const latencyMs = Object.fromEntries(
    Object.entries(latencyMicros).map(([name, micros]) => [name, micros / MICROS_PER_MS]),
  );
  return {
    generator: 'wrk',
    units: requests,
    seconds: durationMicros / MICROS_PER_SECOND,
    failures: wrong + socketErrors,
    latencyMs,
    details: {},
  };
}

const quote = (text: string) => `[==[${text}]==]`;

function encodeScript({ headers, body, keysFile, dir }: Aim): string {
  const bodyFile = join(dir, 'load-body');
  writeFileSync(bodyFile, body);
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[ ${quote(name)} ] = ${quote(value)}`,
  );
  const latencies = Object.entries(LATENCIES).map(
    ([name, call]) => `'"${name}":' .. latency:${call}`,
  );
  return `wrk.method = "POST"
wrk.body = io.open(${quote(bodyFile)}):read("*a")
${lines.join('\n')}
${keysFile === undefined ? '' : encodeRotation(keysFile)}
function done(summary, latency)
  local e = summary.errors
  io.write('\\n{"requests":' .. summary.requests .. ',"durationMicros":' .. summary.duration
    .. ',"badStatuses":' .. e.status
    .. ',"socketErrors":' .. (e.connect + e.read + e.write + e.timeout)
    .. ',"latencyMicros":{' .. ${latencies.join(" .. ',' .. ")} .. ',"max":' .. latency.max .. '}}')
end
`;
}

/**
 * Builds each request around the next key. The keys are in no order that could favour the store.
 */
function encodeRotation(keysFile: string): string {
  return `local keys, before, after, n = {}, nil, nil, 0
function init()
  for key in io.lines(${quote(keysFile)}) do keys[#keys + 1] = key end
  wrk.headers["x-api-key"] = "KEY"
  local whole = wrk.format()
  local from, to = string.find(whole, "KEY", 1, true)
  before, after = string.sub(whole, 1, from - 1), string.sub(whole, to + 1)
end
function request()
  n = (n + 7919) % #keys
  return before .. keys[n + 1] .. after
end`;
}
