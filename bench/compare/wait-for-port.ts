import { once } from 'node:events';
import { connect } from 'node:net';
import { waitUntil } from '../../test/support/wait-until.ts';
import type { PinnedProcess } from './pinned-process.ts';

const START_MAX_MS = 30_000;

/** If the process ends before it listens, rejects with its output. */
export async function waitForPort(child: PinnedProcess, port: number): Promise<void> {
  await waitUntil(
    () => {
      if (child.hasEnded()) throw new Error(`it ended: ${findReason(child.output())}`);
      return accepts(port);
    },
    `port ${port} is open`,
    START_MAX_MS,
  );
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return await once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

/** Some packages print all of their bundled source before the error message. */
function findReason(output: string): string {
  const lines = output.trim().split('\n');
  return lines.find((line) => /^\w*(Error|error)\b/.test(line)) ?? lines.at(-1) ?? '';
}
