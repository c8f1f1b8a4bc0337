import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = 'dist/src/main.js';
const START_MAX_MS = 30_000;
const POLL_MS = 50;

export interface BenchNode {
  readonly port: number;
  readonly key: string;
  stop(): Promise<void>;
}

/** The built program with one worker and a Redis of its own, in front of one upstream of kind native. */
export async function startNode(upstreamUrl: string): Promise<BenchNode> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const port = await findFreePort();
  const opsPort = await findFreePort();
  const configPath = join(dir, 'tollgate.yaml');
  writeFileSync(
    configPath,
    `workers: 1
listen: 127.0.0.1:${port}
ops: {listen: "127.0.0.1:${opsPort}"}
data_dir: ${join(dir, 'data')}
log_level: error
plans: {pro: 1000000}
upstreams: [{name: main, kind: native, url: "${upstreamUrl}"}]
`,
  );
  const child = spawn(process.execPath, [PROGRAM, 'start', '--config', configPath], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await waitUntilReady(opsPort);
  return {
    port,
    key: readFileSync(join(dir, 'data', 'demo-key'), 'utf8').trim(),
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function waitUntilReady(opsPort: number): Promise<void> {
  const dueMs = performance.now() + START_MAX_MS;
  for (;;) {
    const isReady = await fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (performance.now() > dueMs) throw new Error('the node does not start');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
