import { findFreePort } from '../../../test/support/servers/find-free-port.ts';
import { spawnPinned } from '../pinned-process.ts';
import type { UpstreamAnswer } from '../scenario.ts';
import { waitForPort } from '../wait-for-port.ts';

const PROGRAM = 'dist/bench/compare/upstream/upstream-main.js';

export interface Upstream {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startUpstream({
  latencyMs,
  events,
  gapMs,
}: UpstreamAnswer): Promise<Upstream> {
  const port = await findFreePort();
  const args = [port, latencyMs, events, gapMs].map(String);
  const child = await spawnPinned('rest', [process.execPath, PROGRAM, ...args]);
  await waitForPort(child, port);
  return { port, pid: child.pid, stop: child.stop };
}
