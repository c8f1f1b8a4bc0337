import type { Clock } from '../../lib/time/clock.ts';
import { type Finding, joinFindings, passCheck, warnCheck } from '../finding.ts';
import type { StoreNode } from './open-store.ts';

const PINGS = 20;
const LATENCY_MS_WARN = 5;
const SKEW_MAX_MS = 1_000;

export async function checkLatency(masters: readonly StoreNode[]): Promise<Finding> {
  const parts = await Promise.all(
    masters.map(async (master) => {
      const finding = judgeLatency(await measurePings(master));
      return { part: master.name, finding };
    }),
  );
  return joinFindings(parts);
}

async function measurePings({ send }: StoreNode): Promise<number> {
  const tookMs: number[] = [];
  for (let n = 0; n < PINGS; n++) {
    const startMs = performance.now();
    await send('ping', []);
    tookMs.push(performance.now() - startMs);
  }
  return tookMs.sort((one, other) => one - other)[PINGS / 2] ?? 0;
}

function judgeLatency(medianMs: number): Finding {
  const found = `${medianMs.toFixed(2)} ms`;
  return medianMs > LATENCY_MS_WARN
    ? warnCheck(
        found,
        'Run Redis nearer to the node, or on a less busy machine: each request waits for it once.',
      )
    : passCheck(found);
}

/**
 * How far a master's clock is ahead of this machine's, and how far off that may be, since the way
 * to the master takes time.
 */
interface ClockOffset {
  readonly name: string;
  readonly offsetMs: number;
  readonly errorMs: number;
}

export async function checkClocks(masters: readonly StoreNode[], clock: Clock): Promise<Finding> {
  return judgeClocks(await Promise.all(masters.map((master) => readOffset(master, clock))));
}

async function readOffset({ name, send }: StoreNode, clock: Clock): Promise<ClockOffset> {
  const beforeMs = clock.nowMs();
  const reply = await send('time', []);
  const afterMs = clock.nowMs();
  const [seconds, micros] = (Array.isArray(reply) ? reply : []).map(Number);
  const serverMs = (seconds ?? 0) * 1_000 + (micros ?? 0) / 1_000;
  const errorMs = (afterMs - beforeMs) / 2;
  return { name, offsetMs: serverMs - (beforeMs + errorMs), errorMs };
}

export function judgeClocks(offsets: readonly ClockOffset[]): Finding {
  const far = offsets.filter(({ offsetMs, errorMs }) => Math.abs(offsetMs) - errorMs > SKEW_MAX_MS);
  if (far.length > 0) {
    return warnCheck(
      far.map(describeOffset).join('; '),
      'Set the clocks with NTP or chrony: limits, months and the ends of keys go by that of Redis.',
    );
  }
  const spreadMs = spreadOf(offsets);
  if (spreadMs > SKEW_MAX_MS) {
    return warnCheck(
      `the clocks of the masters are ${formatSeconds(spreadMs)} s apart`,
      'Set the clocks of all masters with NTP or chrony.',
    );
  }
  return passCheck(`they agree within ${SKEW_MAX_MS / 1_000} s`);
}

/** The least possible spread between the clocks. */
function spreadOf(offsets: readonly ClockOffset[]): number {
  const latest = Math.max(...offsets.map(({ offsetMs, errorMs }) => offsetMs - errorMs));
  const earliest = Math.min(...offsets.map(({ offsetMs, errorMs }) => offsetMs + errorMs));
  return latest - earliest;
}

function describeOffset({ name, offsetMs }: ClockOffset): string {
  const side = offsetMs > 0 ? 'ahead of' : 'behind';
  return `the clock of ${name} is ${formatSeconds(Math.abs(offsetMs))} s ${side} this machine's`;
}

function formatSeconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
