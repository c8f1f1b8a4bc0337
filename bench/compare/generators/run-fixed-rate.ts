import { runLoad } from '../../../src/load/run-load.ts';
import type { Aim } from '../aim.ts';
import type { Drive, Meter, Outcome } from '../scenario.ts';

/**
 * The first part of each round: connections are opened, and idle processes get their caches back.
 */
const LEAD_IN_SECONDS = 1;

/**
 * An open loop: requests are due at fixed times. Latency counts from the due time, even if a
 * request is sent late.
 */
export async function runFixedRate(
  { port, path, headers, body, status }: Aim,
  { ratePerSecond, connectionsMax }: Extract<Drive, { readonly kind: 'fixed-rate' }>,
  seconds: number,
  meter: Meter,
): Promise<Outcome> {
  const url = new URL(`http://127.0.0.1:${port}${path}`);
  const size = { ratePerSecond, connectionsMax, seconds };
  const result = await runLoad({
    url,
    method: 'POST',
    headers,
    body: Buffer.from(body),
    leadIn: { seconds: LEAD_IN_SECONDS, onOver: meter.begin },
    ...size,
  });
  meter.end();
  const good = result.statuses[status] ?? 0;
  const { p50, p90, p99, p999, max } = result.latencyMs;
  return {
    generator: 'own open loop',
    units: result.completed,
    seconds,
    failures: Math.round(ratePerSecond * seconds) - good,
    latencyMs: { p50, p90, p99, p999, max },
    details: { ratePerSecond, waitP99Ms: result.waitMs.p99 },
  };
}
