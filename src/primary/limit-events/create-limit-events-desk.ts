import { createRecordStore } from '../../accounts/record-store.ts';
import type { LimitEventsDesk } from '../../events/limit-events-desk.ts';
import { listEvents } from '../../events/list/event-list.ts';
import type { Resolve } from '../../events/webhooks/find-addresses.ts';
import type { WebhookSettings } from '../../events/webhooks/start-webhooks.ts';
import { testWebhook } from '../../events/webhooks/test-webhook.ts';
import { readWebhookState } from '../../events/webhooks/webhook-store.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';

interface DeskOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  /** Those in use, which a reload changes. */
  readonly settings: () => WebhookSettings;
  readonly userAgent: string;
  readonly resolve: Resolve;
  readonly clock: Clock;
}

export function createLimitEventsDesk(options: DeskOptions): LimitEventsDesk {
  const { connection, settings, userAgent, resolve, clock } = options;
  const store = createRecordStore(connection);
  return {
    list: (query) => store.read(() => listEvents(connection, query)),
    names: () => settings().endpoints.map(({ name }) => name),
    webhooks: () =>
      Promise.all(
        settings().endpoints.map(async ({ name, url, events, secrets }) => ({
          ...{ name, url, events, secrets: secrets.length },
          state: await store.read(() => readWebhookState(connection, name)),
        })),
      ),
    test: (name, signal) =>
      testWebhook(name, {
        ...{ settings: settings(), userAgent, resolve, nowMs: clock.nowMs(), signal },
      }),
  };
}
