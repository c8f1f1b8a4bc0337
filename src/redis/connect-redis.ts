import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import { quickenStrings } from '../lib/bytes/quicken-strings.ts';
import type { Log } from '../lib/log.ts';
import { waitAtMost } from '../timers/wait-at-most.ts';
import type { CommandArg } from './direct-line/command-writer.ts';
import { createCommand } from './direct-line/create-command.ts';
import { keepDirectLine } from './direct-line/keep-direct-line.ts';
import { failAfter } from './fail-after.ts';
import { insistOnDatabase } from './insist-on-database.ts';
import { logConnectionChanges } from './log-connection-changes.ts';
import { silenceSentinelClients } from './silence-sentinel-clients.ts';

// Importing the Redis client slows down the methods of strings, so this has to come after it.
quickenStrings();

const CONNECT_TIMEOUT_MS = 1_000;
/** Runs only while a reply is due: an idle connection stays open, a half-open one does not. */
const SOCKET_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_MS = 5_000;
/** A frozen peer never answers our FIN, and nothing reconnects until the socket is destroyed. */
const DISCONNECT_TIMEOUT_MS = 500;
/** Replaces the server's own estimate of its loading time, which is often far too long. */
const LOADING_RETRY_MS = 1_000;
const RETRY_DELAY_MAX_MS = 1_000;
const RETRY_JITTER_MS = 200;
const SENTINEL_COMMAND_TIMEOUT_MS = 1_000;
const SENTINEL_RETRY_DELAY_MAX_MS = 500;
/**
 * A command that meets a wrong node asks at once. Each question takes a connection of its own and
 * four commands, of every connection of every process.
 */
const SLOTS_REFRESH_INTERVAL_MS = 10_000;
const SLOTS_REFRESH_TIMEOUT_MS = 1_000;
const CLUSTER_REDIRECTIONS_MAX = 16;
const CLUSTER_RETRY_DELAY_MS = 100;
/**
 * Each time that the client looks for a node it may wait for one that does not answer. Where a
 * part of a Cluster is cut off, all its attempts together take 8 s.
 */
const CLUSTER_SEARCH_MAX_MS = 1_000;

type Client = Redis | Cluster;

export interface RedisConnection {
  /** For what `send` does not cover: subscriptions, scans, the event `ready`. */
  readonly client: Client;
  /** Keys of different hash tags may be on different servers. */
  readonly isCluster: boolean;
  /**
   * Sends one command. The command timeout runs from the moment when a node can take the command; a
   * Cluster first looks for a node, every 100 ms and for a second at most. A call fails at once
   * while there is no connection. A command that timed out may have been executed, or may still be
   * executed a little later.
   */
  send(command: string, args: readonly CommandArg[]): Promise<unknown>;
  /**
   * Calls back when this turn of the event loop ends, just before the commands sent in it are
   * written.
   */
  atTurnEnd(callback: () => void): void;
  /** Waits for replies that are due, within the command timeout, and then ends the connection. */
  close(): Promise<void>;
}

export interface RedisConnectionOptions {
  readonly target: RedisTarget;
  /** The name of this connection in the server's list of clients and in the log. */
  readonly name: string;
  readonly commandTimeoutMs: number;
  readonly log: Log;
  /**
   * For many commands in little time. They go over a second connection, which does nothing else.
   */
  readonly isBusy?: boolean;
  /** Called once for each `send`, with the error if it failed. */
  readonly onCommand?: (tookMs: number, error?: unknown) => void;
}

/**
 * Returns at once, and keeps trying to connect for ever. Whether Redis is there shows in the calls.
 *
 * There are several connections because replies come in the order of the commands: nobody may wait
 * behind a slower command.
 *
 *   worker-N          renewals and probes, which no client waits for
 *   worker-N-admit    admissions and settlements: a short timeout, since a client waits
 *   worker-N-answers  answers that are kept, which may be long
 *   worker-N-changes  subscribed to revocations; takes no other command
 *   primary           sweeps, journal
 *   primary-accounts  changes by operators
 *   primary-replicas  waits for a replica to have such a change; takes no other command
 *   primary-ingest    what goes into the books, in long pages
 *   primary-books     what questions to the books need from Redis
 *   primary-fleet     what this node sends the others
 *   primary-line      subscribed to what they send; takes no other command
 */
export function connectRedis(options: RedisConnectionOptions): RedisConnection {
  const client = createClient(options, () => changes.hangUp());
  const changes = logConnectionChanges(client, options.log, options.name);
  const reconnecting = reconnectAtEnd(client);
  const { target, onCommand = () => {} } = options;

  const limitWait = (reply: Promise<unknown>) =>
    client instanceof Cluster
      ? failAfter(reply, CLUSTER_SEARCH_MAX_MS + options.commandTimeoutMs)
      : reply;

  const sendByClient: RedisConnection['send'] = (command, args) => {
    const sentMs = performance.now();
    const reply = client.sendCommand(createCommand(command, args)) as Promise<unknown>;
    return limitWait(reply).then(
      (value) => {
        onCommand(performance.now() - sentMs);
        return value;
      },
      (error: unknown) => {
        onCommand(performance.now() - sentMs, error);
        // The client attaches the command with its arguments: digests of keys, even its own AUTH.
        if (error instanceof Error) Reflect.deleteProperty(error, 'command');
        throw error;
      },
    );
  };
  const line =
    options.isBusy === true && client instanceof Redis
      ? keepDirectLine(client, { ...options, onCommand, askElsewhere: sendByClient })
      : undefined;

  return {
    client,
    isCluster: target.topology === 'cluster',
    send(command, args) {
      const direct = line?.current();
      return direct === undefined ? sendByClient(command, args) : direct.send(command, args);
    },
    atTurnEnd(callback) {
      const direct = line?.current();
      if (direct === undefined) setImmediate(callback);
      else direct.atTurnEnd(callback);
    },
    async close() {
      changes.stop();
      reconnecting.stop();
      await line?.close();
      await endClient(client, options.commandTimeoutMs);
    },
  };
}

/**
 * The client gives up for ever if it hears of a new master while it asks a Sentinel for the master,
 * often after the death of one. This waits as after any other failure, and reconnects.
 */
function reconnectAtEnd(client: Client): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const reconnect = () => {
    timer = setTimeout(() => client.connect().catch(() => {}), retryDelayMs(0));
  };
  client.on('end', reconnect);
  return {
    stop() {
      client.off('end', reconnect);
      clearTimeout(timer);
    },
  };
}

function createClient(options: RedisConnectionOptions, onHangUp: () => void): Client {
  const { target } = options;
  const common = commonOptions(options, onHangUp);
  switch (target.topology) {
    case 'standalone':
      return insistOnDatabase(
        new Redis({
          ...common,
          ...(target.endpoint.kind === 'unix'
            ? { path: target.endpoint.path }
            : { host: target.endpoint.host, port: target.endpoint.port }),
          db: target.database,
        }),
      );
    case 'sentinel': {
      const client = new Redis({ ...common, ...sentinelOptions(target), db: target.database });
      silenceSentinelClients(client);
      return insistOnDatabase(client);
    }
    case 'cluster': {
      const client = new Cluster(
        target.nodes.map(({ host, port }) => ({ host, port })),
        clusterOptions(target.tls, common),
      );
      connectNodesEarly(client);
      return client;
    }
  }
}

/**
 * By default a node connects when it is first used, and refuses every further call until it is
 * connected. This must not connect nodes before the Cluster is ready: the client's own check asks a
 * node that it expects to be unconnected.
 */
function connectNodesEarly(cluster: Cluster): void {
  const connect = (node: Redis) => {
    if (cluster.status === 'ready' && node.status === 'wait') node.connect().catch(() => {});
  };
  cluster.on('ready', () => cluster.nodes('master').forEach(connect));
  // A call that is redirected to the new node goes first.
  cluster.on('+node', (node: Redis) => setImmediate(connect, node));
}

function commonOptions(
  { target, name, commandTimeoutMs }: RedisConnectionOptions,
  onHangUp: () => void,
) {
  return {
    connectionName: name,
    // The name of the client library is useful to nobody, and setting it would need another right.
    disableClientInfo: true,
    username: target.auth.username,
    password: target.auth.password?.reveal(),
    tls: target.tls ? {} : undefined,
    commandTimeout: commandTimeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    // If a call were queued or sent again, it would run long after its caller has given up.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Listeners do it at `ready`. A failure of the client's own call would end the process.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: true,
    maxLoadingRetryTime: LOADING_RETRY_MS,
    retryStrategy: retryDelayMs,
    // After a failover the old master answers with these errors: find the new one.
    reconnectOnError: (error: Error) => {
      const isOldMaster = /^(READONLY|MASTERDOWN)/.test(error.message);
      if (isOldMaster) onHangUp();
      return isOldMaster;
    },
  } satisfies RedisOptions;
}

function sentinelOptions(target: Extract<RedisTarget, { topology: 'sentinel' }>) {
  const { username, password } = target.auth;
  return {
    sentinels: target.sentinels.map(({ host, port }) => ({ host, port })),
    name: target.masterName,
    role: 'master' as const,
    failoverDetector: true,
    // Sentinels without a password accept any password. They do not know a user of the data
    // servers.
    ...(username === undefined && password !== undefined
      ? { sentinelPassword: password.reveal() }
      : {}),
    ...(target.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    sentinelCommandTimeout: SENTINEL_COMMAND_TIMEOUT_MS,
    sentinelRetryStrategy: (times: number) => Math.min(50 * times, SENTINEL_RETRY_DELAY_MAX_MS),
  } satisfies RedisOptions;
}

function clusterOptions(tls: boolean, common: ReturnType<typeof commonOptions>) {
  const { retryStrategy: _, enableOfflineQueue: __, ...redisOptions } = common;
  return {
    redisOptions,
    enableOfflineQueue: false,
    // Auto-pipelining would hand raw MOVED replies to callers during a failover.
    enableAutoPipelining: false,
    scaleReads: 'master' as const,
    slotsRefreshInterval: SLOTS_REFRESH_INTERVAL_MS,
    slotsRefreshTimeout: SLOTS_REFRESH_TIMEOUT_MS,
    maxRedirections: CLUSTER_REDIRECTIONS_MAX,
    retryDelayOnFailover: CLUSTER_RETRY_DELAY_MS,
    retryDelayOnClusterDown: CLUSTER_RETRY_DELAY_MS,
    clusterRetryStrategy: retryDelayMs,
    // A certificate names the host, not the address that the client would replace it with.
    ...(tls ? { dnsLookup: (host, callback) => callback(null, host) } : {}),
  } satisfies ClusterOptions;
}

function retryDelayMs(times: number): number {
  return Math.min(50 * 2 ** times, RETRY_DELAY_MAX_MS) + Math.random() * RETRY_JITTER_MS;
}

async function endClient(client: Client, commandTimeoutMs: number): Promise<void> {
  if (client.status === 'end') return;
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  if (client.status === 'ready') {
    const quit = client.quit().catch(() => {});
    await waitAtMost(commandTimeoutMs, quit);
  }
  // Between two attempts there is no socket, so no event reports that it has closed.
  const reportsEnd = client.status !== 'reconnecting';
  client.disconnect();
  if (reportsEnd) await waitAtMost(2 * DISCONNECT_TIMEOUT_MS, ended);
}
