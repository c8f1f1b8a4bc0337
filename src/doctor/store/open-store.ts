import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import { formatEndpoint } from '../../lib/address/parse-endpoint.ts';
import type { RedisTarget } from '../../lib/address/redis-target.ts';
import { connectRedis, type RedisConnection } from '../../redis/connect-redis.ts';
import { createReasonLog } from '../../redis/reason-log.ts';

const OPEN_TIME_MAX_MS = 4_000;
const COMMAND_TIMEOUT_MS = 2_000;
const POLL_MS = 50;

type Send = RedisConnection['send'];

/** One server that takes writes. */
export interface StoreNode {
  readonly name: string;
  readonly send: Send;
}

export interface StoreAccess {
  /** A connection like that of a worker. */
  readonly connection: RedisConnection;
  readonly masters: readonly StoreNode[];
  /** Known masters that do not answer, each with the reason. */
  readonly silent: readonly string[];
  close(): Promise<void>;
}

/** Throws with the reason if the store does not answer in time. */
export async function openStore(target: RedisTarget): Promise<StoreAccess> {
  const log = createReasonLog();
  const connection = connectRedis({
    target,
    name: 'doctor',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    log,
  });
  const deadlineMs = performance.now() + OPEN_TIME_MAX_MS;
  try {
    await waitForAnswer(connection.send, deadlineMs);
    return {
      connection,
      ...(await findMasters(target, connection, deadlineMs)),
      close: connection.close,
    };
  } catch (error) {
    await connection.close();
    throw new Error(log.lastReason() ?? (error as Error).message, { cause: error });
  }
}

async function findMasters(
  target: RedisTarget,
  { client, send }: RedisConnection,
  deadlineMs: number,
): Promise<Pick<StoreAccess, 'masters' | 'silent'>> {
  if (!(client instanceof Cluster)) {
    return { masters: [{ name: nameOf(target), send }], silent: [] };
  }
  const masters: StoreNode[] = [];
  const silent: string[] = [];
  await Promise.all(
    client.nodes('master').map(async (node) => {
      const name = `${node.options.host}:${node.options.port}`;
      const sendTo: Send = (command, args) => node.call(command, ...args);
      try {
        await waitForAnswer(sendTo, deadlineMs);
        masters.push({ name, send: sendTo });
      } catch (error) {
        silent.push(`${name}: ${(error as Error).message}`);
      }
    }),
  );
  return { masters: masters.toSorted((one, other) => (one.name < other.name ? -1 : 1)), silent };
}

function nameOf(target: RedisTarget): string {
  switch (target.topology) {
    case 'standalone':
      return formatEndpoint(target.endpoint);
    case 'sentinel':
      return target.masterName;
    case 'cluster':
      return 'cluster';
  }
}

/** A refusal for lack of rights is an answer too. */
async function waitForAnswer(send: Send, deadlineMs: number): Promise<void> {
  for (;;) {
    try {
      await send('ping', []);
      return;
    } catch (error) {
      if ((error as Error).message.startsWith('NOPERM')) return;
      if (performance.now() > deadlineMs) throw error;
    }
    await sleep(POLL_MS);
  }
}
