import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { FLEET_CHANNEL, FLEET_LIVE_CHANNEL } from '../redis/redis-keys.ts';
import {
  type FleetMessage,
  type MessageOf,
  type MessageType,
  parseMessage,
} from './fleet-messages.ts';

const COMMAND_TIMEOUT_MS = 1_000;
const HANDLERS_MAX = 20;

/** What the primaries of a fleet tell each other. A message reaches those that listen just then. */
export interface FleetLine {
  /** Rejects if Redis did not take it. The sender hears its own messages too. */
  publish(message: FleetMessage): Promise<void>;
  /** Like `publish`, to those that listen to what all nodes do. */
  publishLive(message: FleetMessage): Promise<void>;
  /** Calls back with every message of this type. What is not a message of ours is ignored. */
  onMessage<Type extends MessageType>(
    type: Type,
    handler: (message: MessageOf<Type>) => void,
  ): void;
  /** Calls back when the line is open again. What was published while it was closed is lost. */
  onOpen(handler: () => void): void;
  /** Calls back when the line was lost. */
  onLost(handler: () => void): void;
  /** Whether this node listens to what all nodes do. */
  listenLive(isListening: boolean): void;
  close(): Promise<void>;
}

interface FleetLineOptions {
  readonly target: RedisTarget;
  /** Publishes. The line itself has a connection that is subscribed and takes no other command. */
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly log: Log;
}

export function openFleetLine({ target, connection, log }: FleetLineOptions): FleetLine {
  const name = 'primary-line';
  const line = connectRedis({ target, name, commandTimeoutMs: COMMAND_TIMEOUT_MS, log });
  const { client } = line;
  const handlers: { readonly type: string; readonly handle: (message: never) => void }[] = [];
  const openHandlers: (() => void)[] = [];
  let isLive = false;

  const subscribe = () => {
    const channels = isLive ? [FLEET_CHANNEL, FLEET_LIVE_CHANNEL] : [FLEET_CHANNEL];
    client.subscribe(...channels).then(
      () => {
        for (const handle of openHandlers) handle();
      },
      // The next connection tries again.
      (error: unknown) => log.warn({ err: error }, 'other nodes are not heard'),
    );
  };
  if (client.status === 'ready') subscribe();
  client.on('ready', subscribe);
  client.on('message', (_channel: string, text: string) => {
    const message = parseMessage(text);
    if (message === undefined) return;
    for (const { type, handle } of handlers) if (type === message.type) handle(message as never);
  });

  const publish = async (channel: string, message: FleetMessage) => {
    await connection.send('publish', [channel, JSON.stringify(message)]);
  };

  return {
    publish: (message) => publish(FLEET_CHANNEL, message),
    publishLive: (message) => publish(FLEET_LIVE_CHANNEL, message),
    onMessage(type, handle) {
      if (handlers.length >= HANDLERS_MAX) throw new Error('too many handlers of messages');
      handlers.push({ type, handle });
    },
    onOpen: (handler) => void openHandlers.push(handler),
    onLost: (handler) => void client.on('close', handler),
    listenLive(isListening) {
      if (isListening === isLive) return;
      isLive = isListening;
      const change = isListening ? 'subscribe' : 'unsubscribe';
      // A connection that is not there subscribes when it is ready.
      client[change](FLEET_LIVE_CHANNEL).catch(() => {});
    },
    close: () => line.close(),
  };
}
