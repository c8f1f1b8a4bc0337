import type { Config } from '../../config/config.ts';
import { packageVersion } from '../../config/package-version.ts';
import { showEvent } from '../../events/limit-event.ts';
import type { LimitEventsDesk } from '../../events/limit-events-desk.ts';
import { createEventCollector, type EventCollector } from '../../events/list/event-collector.ts';
import { createHostLookup } from '../../events/webhooks/create-host-lookup.ts';
import { startWebhooks } from '../../events/webhooks/start-webhooks.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { ProcessMetrics } from '../../metrics/process-metrics.ts';
import type { PublishEvent } from '../../ops/event-hub.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { createLimitEventsDesk } from './create-limit-events-desk.ts';

interface EventsOptions {
  /** The id of this node. */
  readonly node: string;
  /** The settings in use, which a reload changes. */
  readonly configInUse: () => Config;
  readonly publish: PublishEvent;
  readonly metrics: ProcessMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

export interface NodeLimitEvents extends EventCollector {
  readonly desk: LimitEventsDesk;
  stop(): Promise<void>;
}

/** A node's part in events of limits and balances. */
export function startLimitEvents(
  connection: Pick<RedisConnection, 'send'>,
  options: EventsOptions,
): NodeLimitEvents {
  const { node, configInUse, publish, metrics, clock, log } = options;
  const collector = createEventCollector({
    ...{ connection, log },
    onEvent(event) {
      metrics.limitEvents.at({ type: event.type, level: event.level }).add(1);
      publish({ type: 'limit', data: showEvent(event) });
    },
    onLost: (count) => metrics.limitEventsLost.at({}).add(count),
  });
  const settings = () => configInUse().webhooks;
  const userAgent = `tollgate/${packageVersion()}`;
  const resolve = createHostLookup();
  const webhooks = startWebhooks({
    ...{ connection, nodeId: node, settings, userAgent, resolve, clock, log },
    onOutcome: (result, count) => metrics.webhookEvents.at({ result }).add(count),
    random: Math.random,
  });
  metrics.webhooksWaiting.watch((set) => set({}, webhooks.report().waiting));
  metrics.webhooksFailing.watch((set) => set({}, webhooks.report().failing));
  metrics.webhookFailingSeconds.watch((set) => {
    const { failingSinceMs } = webhooks.report();
    const failingMs = failingSinceMs === undefined ? 0 : clock.nowMs() - failingSinceMs;
    set({}, Math.max(0, failingMs) / 1_000);
  });
  return {
    ...collector,
    desk: createLimitEventsDesk({ connection, settings, userAgent, resolve, clock }),
    async stop() {
      await Promise.all([collector.stop(), webhooks.stop()]);
    },
  };
}
