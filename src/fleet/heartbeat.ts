import type { Log } from '../lib/log.ts';
import type { Activity } from '../messages/activity.ts';
import type { EventHub } from '../ops/event-hub.ts';
import { classifyRedisError } from '../redis/classify-redis-error.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { type Beat, LIFE_MS, sendBeat } from './beat.ts';
import { createFleetDuties } from './fleet-duties.ts';
import type { FleetLine } from './fleet-line.ts';
import { createLiveTraffic } from './live-traffic.ts';
import { type NodeDetail, type OwnNode, packNode } from './own-node.ts';
import type { RedisClock } from './redis-clock.ts';
import { type FleetFacts, parseFacts } from './show-members.ts';
import { type PackedTraffic, packTraffic } from './traffic.ts';
import { createTrafficRows } from './traffic-rows.ts';

const BEAT_MS = 1_000;

export interface Heartbeat {
  /** The name of this node in the fleet; its id, unless another node has the same. */
  name(): string;
  /** What this node says about itself now. */
  read(): Beat;
  /** What is said about all members; undefined while Redis does not answer. */
  facts(): FleetFacts | undefined;
  noteActivity(activity: Activity): void;
  /** Reports at once that the node takes no more requests. */
  drain(): void;
  /** Reports that the node ends, if Redis answers. */
  stop(): Promise<void>;
}

export interface HeartbeatOptions {
  readonly nodeId: string;
  /** Names this process; another one may have the same node id. */
  readonly run: string;
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly line: Pick<FleetLine, 'listenLive' | 'onMessage'>;
  readonly hub: Pick<EventHub, 'publish' | 'hasSubscribers' | 'isWatched'>;
  readonly readOwn: () => OwnNode;
  readonly readDetail: () => NodeDetail;
  /** How many requests are open. */
  readonly readOpen: () => number;
  readonly redisClock: RedisClock;
  readonly log: Log;
}

/**
 * Reports once a second what this node is and does. The cost does not depend on how many nodes
 * there are: a node reads all members only while it holds the lease, or if somebody asks it.
 */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { run, line, hub, redisClock, log } = options;
  const bornMs = performance.now();
  const rows = createTrafficRows();
  const live = createLiveTraffic(hub);
  let activities: Activity[] = [];
  let state: Beat['state'] = 'up';
  let requestsPerS = 0;
  let beatMs = bornMs;
  let sending: Promise<void> | undefined;

  const read = (): Beat => ({
    ...options.readOwn(),
    ...{ state, uptime_ms: Math.round(performance.now() - bornMs) },
    ...{ open: options.readOpen(), requests_per_s: requestsPerS, rows: [...rows.read()] },
  });
  const { send, name, facts } = createSender(options, read);

  const beat = () => {
    const taken = activities;
    activities = [];
    const traffic = packTraffic(taken, options.readOpen());
    rows.add(taken);
    rows.look(redisClock.nowMs(), traffic.open);
    const nowMs = performance.now();
    requestsPerS = Math.round((traffic.requests / (nowMs - beatMs)) * 10_000) / 10;
    beatMs = nowMs;
    live.add(name(), traffic, nowMs);
    live.publish(nowMs);
    line.listenLive(hub.hasSubscribers());
    sending ??= send(traffic, false)
      .catch((error: unknown) => {
        if (classifyRedisError(error) === 'fault') log.error({ err: error }, 'a beat failed');
      })
      .finally(() => {
        sending = undefined;
      });
  };

  line.onMessage('traffic', (message) => {
    if (message.run !== run) live.add(message.node, message.traffic, performance.now());
  });
  const timer = setInterval(beat, BEAT_MS).unref();

  return {
    ...{ name, read, facts },
    noteActivity: (activity) => void activities.push(activity),
    drain() {
      state = 'draining';
      beat();
    },
    async stop() {
      clearInterval(timer);
      await sending;
      await send(packTraffic(activities, 0), true).catch(() => {});
    },
  };
}

/** Sends beats, and keeps what Redis answers. */
function createSender(options: HeartbeatOptions, read: () => Beat) {
  const { nodeId, run, connection, hub, redisClock, log } = options;
  const duties = createFleetDuties(connection, run);
  const twins = createTwinWatch(nodeId, log);
  let name = nodeId;
  let facts: FleetFacts | undefined;
  let heardMs = -Infinity;
  return {
    name: () => name,
    facts: () => (performance.now() - heardMs < LIFE_MS ? facts : undefined),
    async send(traffic: PackedTraffic, hasEnded: boolean) {
      const reply = await sendBeat(connection, {
        ...{ nodeId, run, beat: read(), detail: packNode(options.readDetail()), hasEnded },
        ...{ facts: duties.takeFacts(), isListening: !hasEnded && hub.hasSubscribers() },
        traffic: { type: 'traffic', node: name, run, traffic },
      });
      redisClock.correct(reply.nowMs);
      name = reply.name;
      heardMs = performance.now();
      facts = parseFacts(reply.facts);
      twins.check(name);
      if (reply.isHolder) await duties.carryOut();
    },
  };
}

/** A node that starts again after a kill is a twin of its former self until that one is gone. */
const TWIN_MS = 3 * LIFE_MS;

function createTwinWatch(nodeId: string, log: Log) {
  let sinceMs: number | undefined;
  let isLogged = false;
  return {
    check(name: string) {
      if (name === nodeId) {
        sinceMs = undefined;
        isLogged = false;
        return;
      }
      sinceMs ??= performance.now();
      if (isLogged || performance.now() - sinceMs < TWIN_MS) return;
      isLogged = true;
      log.error(
        { node: nodeId, name },
        'another node has the same id: was its data folder copied?',
      );
    },
  };
}
