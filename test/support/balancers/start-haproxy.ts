import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type CleanUp, createTempDir } from '../create-temp-dir.ts';
import { findFreePort } from '../servers/find-free-port.ts';
import { waitUntil } from '../wait-until.ts';

const CONFIG = 'deploy/haproxy/haproxy.cfg';

/** The HAProxy configuration that operators are shown, run by the HAProxy of the system. */
export async function startHaproxy(
  ports: readonly [number, number],
  cleanUp: CleanUp,
): Promise<{ readonly url: string }> {
  const [port, statsPort] = [await findFreePort(), await findFreePort()];
  const child = spawn('haproxy', ['-db', '-f', CONFIG], {
    env: {
      PATH: process.env['PATH'],
      TMPDIR: createTempDir(cleanUp),
      TOLLGATE_BIND: `127.0.0.1:${port}`,
      TOLLGATE_STATS_BIND: `127.0.0.1:${statsPort}`,
      TOLLGATE_NODE_1: `127.0.0.1:${ports[0]}`,
      TOLLGATE_NODE_2: `127.0.0.1:${ports[1]}`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  cleanUp(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });

  // The states of the servers as HAProxy sees them, by their names in its configuration.
  const nodeStates = async () => {
    const table = await (await fetch(`http://127.0.0.1:${statsPort}/;csv`)).text();
    const [head = '', ...rows] = table.split('\n');
    const column = head.split(',').indexOf('status');
    return Object.fromEntries(
      rows
        .map((row) => row.split(','))
        .filter(([backend]) => backend === 'tollgate')
        .map((row) => [row[1] ?? '', row[column] ?? '']),
    );
  };
  await waitUntil(async () => {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`haproxy ended: ${stderr}`);
    }
    return nodeStates().then(
      ({ one, two }) => one === 'UP' && two === 'UP',
      () => false,
    );
  }, 'haproxy has found both nodes');
  return { url: `http://127.0.0.1:${port}` };
}
