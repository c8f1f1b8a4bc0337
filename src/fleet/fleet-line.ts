import { randomUUID } from 'node:crypto';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { FLEET_CHANNEL, FLEET_LIVE_CHANNEL, fleetEchoChannel } from '../redis/redis-keys.ts';
import {
  type FleetMessage,
  type MessageOf,
  type MessageType,
  parseMessage,
} from './fleet-messages.ts';

const NAME = 'primary-line';
const COMMAND_TIMEOUT_MS = 1_000;
const HANDLERS_MAX = 20;
const ECHO_MS = 1_500;
/** One echo may be late because a server or this process stood still for a moment. */
const UNHEARD_MAX = 2;

/** How the primaries of a fleet talk to each other. A message reaches only those that listen. */
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

export function openFleetLine(options: FleetLineOptions): FleetLine {
  const { connection } = options;
  const handlers: { readonly type: string; readonly handle: (message: never) => void }[] = [];
  const openHandlers: (() => void)[] = [];
  const lostHandlers: (() => void)[] = [];
  let isLive = false;

  const ear = openEar(options, {
    channels: () => (isLive ? [FLEET_CHANNEL, FLEET_LIVE_CHANNEL] : [FLEET_CHANNEL]),
    onText(text) {
      const message = parseMessage(text);
      if (message === undefined) return;
      for (const { type, handle } of handlers) if (type === message.type) handle(message as never);
    },
    onOpen() {
      for (const handle of openHandlers) handle();
    },
    onLost() {
      for (const handle of lostHandlers) handle();
    },
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
    onLost: (handler) => void lostHandlers.push(handler),
    listenLive(isListening) {
      if (isListening === isLive) return;
      isLive = isListening;
      const change = isListening ? 'subscribe' : 'unsubscribe';
      // A connection that is not up subscribes when it is ready.
      ear
        .client()
        [change](FLEET_LIVE_CHANNEL)
        .catch(() => {});
    },
    close: ear.close,
  };
}

interface EarParts {
  /** The channels to listen to from now on. */
  readonly channels: () => readonly string[];
  readonly onText: (text: string) => void;
  readonly onOpen: () => void;
  readonly onLost: () => void;
}

interface Ear {
  client(): RedisConnection['client'];
  close(): Promise<void>;
}

/**
 * Keeps a subscribed connection. It would not notice that its server is frozen, or cut off from
 * the rest of a Cluster: it waits for no reply, and stays open. So the node sends itself a
 * message now and then. If Redis has taken it and the connection does not hear it, another
 * connection takes its place, perhaps to another server.
 */
function openEar({ target, connection, log }: FleetLineOptions, parts: EarParts): Ear {
  const echoChannel = fleetEchoChannel(randomUUID());
  let said = 0;
  let heard = 0;
  let unheard = 0;

  const open = (): RedisConnection => {
    const opened = connectRedis({ target, name: NAME, commandTimeoutMs: COMMAND_TIMEOUT_MS, log });
    const { client } = opened;
    // What a connection reports after it was given up no longer matters.
    const isCurrent = () => current === opened;
    client.on('ready', () => {
      unheard = 0;
      client.subscribe(...parts.channels(), echoChannel).then(
        () => {
          if (isCurrent()) parts.onOpen();
        },
        // Without a subscription it hears no echo, so another connection tries again.
        (error: unknown) => {
          if (isCurrent()) log.warn({ err: error }, 'other nodes are not heard');
        },
      );
    });
    client.on('close', () => {
      if (isCurrent()) parts.onLost();
    });
    client.on('message', (channel: string, text: string) => {
      if (!isCurrent()) return;
      if (channel !== echoChannel) return parts.onText(text);
      heard = Number(text);
      unheard = 0;
    });
    return opened;
  };
  let current = open();

  const reopen = () => {
    log.warn({ connection: NAME }, 'other nodes are not heard: the connection is replaced');
    const deaf = current;
    unheard = 0;
    current = open();
    parts.onLost();
    void deaf.close();
  };
  const checkEcho = () => {
    // A connection that is not ready reconnects by itself.
    if (current.client.status !== 'ready') return;
    if (unheard >= UNHEARD_MAX) return reopen();
    said += 1;
    const [number, asked] = [said, current];
    connection.send('publish', [echoChannel, String(number)]).then(
      () => {
        if (asked === current && number > heard) unheard += 1;
      },
      // A failed publish says nothing about the listener.
      () => {},
    );
  };
  const timer = setInterval(checkEcho, ECHO_MS).unref();

  return {
    client: () => current.client,
    close() {
      clearInterval(timer);
      return current.close();
    },
  };
}
