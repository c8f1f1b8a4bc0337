import { randomBytes, randomUUID } from 'node:crypto';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { createEventHub, type EventHub, type PublishEvent } from '../ops/event-hub.ts';
import type { FleetDesk } from '../ops/fleet-desk.ts';
import { connectRedis, type RedisConnectionOptions } from '../redis/connect-redis.ts';
import { createFleetDesk } from './create-fleet-desk.ts';
import { type FleetLine, openFleetLine } from './fleet-line.ts';
import type { MessageOf } from './fleet-messages.ts';
import { type Heartbeat, type HeartbeatOptions, startHeartbeat } from './heartbeat.ts';
import { createRedisClock } from './redis-clock.ts';
import { createReloadNodes, type ReloadNodesOptions } from './reload-nodes.ts';

const COMMAND_TIMEOUT_MS = 1_000;
const RUN_BYTES = 4;

export interface Fleet extends Pick<Heartbeat, 'facts' | 'noteActivity' | 'drain'> {
  readonly line: FleetLine;
  readonly desk: FleetDesk;
  readonly events: Pick<EventHub, 'subscribe'>;
  /** Publishes an event of this node to those who listen to any node. */
  readonly publish: PublishEvent;
  /** Announces to the others that this node ends. */
  close(): Promise<void>;
}

interface FleetOptions
  extends Pick<HeartbeatOptions, 'nodeId' | 'readOwn' | 'readDetail' | 'readOpen'> {
  readonly target: RedisTarget;
  readonly reload: ReloadNodesOptions['reload'];
  readonly onCommand: NonNullable<RedisConnectionOptions['onCommand']>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A node's part in its fleet: all nodes on one Redis. */
export function startFleet(options: FleetOptions): Fleet {
  const { target, readDetail, reload, onCommand, clock, log } = options;
  const run = randomBytes(RUN_BYTES).toString('hex');
  const redisClock = createRedisClock(clock);
  const connection = connectRedis({
    ...{ target, name: 'primary-fleet', commandTimeoutMs: COMMAND_TIMEOUT_MS, onCommand, log },
  });
  const line = openFleetLine({ target, connection, log });
  const hub = createEventHub();
  const heartbeat = startHeartbeat({ ...options, ...{ run, connection, line, hub, redisClock } });
  const reloadNodes = createReloadNodes({
    ...{ line, run, reload, nowMs: redisClock.nowMs, createAskId: randomUUID },
  });

  line.onMessage('event', (message) => {
    if (message.run !== run) hub.publish({ ...message.event, node: message.node });
  });

  return {
    line,
    desk: createFleetDesk({ connection, run, heartbeat, readDetail, reloadNodes, redisClock }),
    events: {
      subscribe(response, node) {
        hub.subscribe(response, node);
        line.listenLive(hub.hasSubscribers());
      },
    },
    publish(event) {
      const node = heartbeat.name();
      hub.publish({ ...event, node });
      const sent = event as MessageOf<'event'>['event'];
      // While Redis is out, those who listen to another node miss the event.
      line.publishLive({ type: 'event', node, run, event: sent }).catch(() => {});
    },
    facts: heartbeat.facts,
    noteActivity: heartbeat.noteActivity,
    drain: heartbeat.drain,
    async close() {
      await heartbeat.stop();
      await Promise.all([line.close(), connection.close()]);
    },
  };
}
