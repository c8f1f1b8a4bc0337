import { unpack } from 'msgpackr';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import { connectRedis } from './connect-redis.ts';
import { CHANGES_CHANNEL } from './redis-keys.ts';

const MESSAGE_VERSION = 1;
const COMMAND_TIMEOUT_MS = 1_000;

/** The record of a key or an account has changed. `quota/scripts/write-record.lua` publishes it. */
export interface Change {
  readonly subject: 'key' | 'account';
  readonly id: string;
  readonly version: number;
  readonly status: string;
  /** When it was written, by the clock of Redis; undefined if an earlier version wrote it. */
  readonly changedMs: number | undefined;
}

interface ListenOptions {
  readonly target: RedisTarget;
  readonly name: string;
  readonly log: Log;
  readonly onChange: (change: Change) => void;
  /** The channel is open again. Changes published while it was closed are lost. */
  readonly onResync: () => void;
}

/** Listens on a connection of its own, which then takes no other commands. */
export function listenForChanges(options: ListenOptions): { close(): Promise<void> } {
  const { target, name, log, onChange, onResync } = options;
  const connection = connectRedis({ target, name, commandTimeoutMs: COMMAND_TIMEOUT_MS, log });
  const { client } = connection;

  const subscribe = () => {
    client.subscribe(CHANGES_CHANNEL).then(onResync, (error: unknown) => {
      // The next connection tries again. Until then renewals report revoked keys.
      log.warn({ err: error }, 'changes of keys are not heard');
    });
  };
  if (client.status === 'ready') subscribe();
  client.on('ready', subscribe);
  client.on('messageBuffer', (_channel: Buffer, message: Buffer) => {
    const change = decodeChange(message);
    if (change !== undefined) onChange(change);
  });
  return { close: () => connection.close() };
}

/** Undefined for the message of a later version, and for a message that is not ours. */
export function decodeChange(message: Uint8Array): Change | undefined {
  try {
    const [version, subject, id, recordVersion, status, changedMs] = unpack(message) as unknown[];
    if (version !== MESSAGE_VERSION || typeof id !== 'string') return undefined;
    if (subject !== 'key' && subject !== 'account') return undefined;
    return {
      ...{ subject, id, version: Number(recordVersion), status: String(status) },
      changedMs: typeof changedMs === 'string' ? Number(changedMs) : undefined,
    };
  } catch {
    return undefined;
  }
}
