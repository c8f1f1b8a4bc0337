import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';

interface Failure {
  readonly client: number;
  /** The process that gave this client its last answer. */
  readonly lastPid: number | undefined;
  readonly error: string;
}

export interface Load {
  readonly failures: Failure[];
  answered(): number;
  /** The process that gave each client its last answer. */
  lastPids(): (number | undefined)[];
  stop(): Promise<void>;
}

/**
 * Clients that send the next request as soon as they have an answer, each over one keep-alive
 * connection.
 */
export function startLoad(url: string, path: string, clients: number): Load {
  const failures: Failure[] = [];
  const lastPids: (number | undefined)[] = Array(clients).fill(undefined);
  let answered = 0;
  let isStopped = false;
  const runClient = async (number: number) => {
    const client = new Client(url);
    while (!isStopped) {
      try {
        const { statusCode, body } = await client.request({ method: 'GET', path });
        const answer = (await body.json()) as { pid: number };
        if (statusCode !== 200) throw new Error(`status ${statusCode}`);
        lastPids[number] = answer.pid;
        answered++;
      } catch (error) {
        failures.push({ client: number, lastPid: lastPids[number], error: String(error) });
        // Every failure counts. Without a pause, a dead node would add a million failures.
        await sleep(20);
      }
    }
    await client.close();
  };
  const running = Array.from({ length: clients }, (_, number) => runClient(number));
  return {
    failures,
    answered: () => answered,
    lastPids: () => lastPids,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
