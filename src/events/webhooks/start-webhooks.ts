import { randomUUID } from 'node:crypto';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { classifyRedisError } from '../../redis/classify-redis-error.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { pause } from '../../timers/pause.ts';
import { readEntriesFrom } from '../list/event-list.ts';
import type { Resolve } from './find-addresses.ts';
import { POST_MAX_MS, postWebhook, type Webhook, type WebhookRules } from './post-webhook.ts';
import {
  createWebhookDelivery,
  type DeliveryOutcome,
  type WebhookDelivery,
} from './webhook-delivery.ts';
import { createWebhookStore } from './webhook-store.ts';

const ROUND_MS = 500;
/** A post that has begun ends before another node may begin with the next one. */
const LEASE_MS = 1.5 * POST_MAX_MS;
/** How long posts may continue that are under way when the node stops. */
const STOP_GRACE_MS = 2_000;

const monotonicMs = () => performance.now();

/** As the settings have them. */
export interface WebhookSettings extends WebhookRules {
  readonly endpoints: readonly Webhook[];
}

interface WebhooksReport {
  readonly waiting: number;
  readonly failing: number;
  /** Since when the webhook that has failed the longest has been failing. */
  readonly failingSinceMs: number | undefined;
}

interface RunningWebhooks {
  report(): WebhooksReport;
  /** Leaves what has not begun to other nodes. */
  stop(): Promise<void>;
}

interface WebhooksOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  /** Shows people who has the lease. */
  readonly nodeId: string;
  /** The settings in use, which a reload changes. */
  readonly settings: () => WebhookSettings;
  readonly userAgent: string;
  readonly resolve: Resolve;
  readonly onOutcome: (outcome: DeliveryOutcome, count: number) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Sends events to webhooks, from one node at a time. */
export function startWebhooks(options: WebhooksOptions): RunningWebhooks {
  const { connection, nodeId, settings, log } = options;
  const store = createWebhookStore(connection, `${nodeId} ${randomUUID()}`);
  const stopping = new AbortController();
  const ending = new AbortController();
  const deliveries = new Map<string, WebhookDelivery>();
  const lease = { endMs: -Infinity, redisOffsetMs: 0 };

  const open = async (name: string): Promise<WebhookDelivery> => {
    const { clock, random, userAgent, resolve, onOutcome } = options;
    const webhook = () => settings().endpoints.find((each) => each.name === name) ?? gone(name);
    return createWebhookDelivery({
      ...{ name, webhook, store, onOutcome, random, log, monotonicMs, nowMs: clock.nowMs },
      place: await store.findPlace(name),
      post: (to, message) =>
        postWebhook(to, message, {
          ...{ rules: settings(), nowMs: clock.nowMs(), userAgent, resolve },
          signal: ending.signal,
        }),
      mayPost: () =>
        !stopping.signal.aborted &&
        monotonicMs() + POST_MAX_MS < lease.endMs &&
        settings().endpoints.some((each) => each.name === name),
      readFrom: (number, count) => readEntriesFrom(connection, number, count),
      redisNowMs: () => monotonicMs() + lease.redisOffsetMs,
    });
  };

  const runRound = async () => {
    const names = settings().endpoints.map(({ name }) => name);
    for (const name of deliveries.keys()) if (!names.includes(name)) deliveries.delete(name);
    if (names.length === 0) return;
    const askedMs = monotonicMs();
    const redisMs = await store.hold(LEASE_MS);
    if (redisMs === undefined) {
      lease.endMs = -Infinity;
      deliveries.clear();
      return;
    }
    lease.endMs = askedMs + LEASE_MS;
    lease.redisOffsetMs = redisMs - monotonicMs();
    for (const name of names) {
      const delivery = deliveries.get(name) ?? (await open(name));
      deliveries.set(name, delivery);
      if (await delivery.look()) continue;
      await delivery.finishPosts();
      deliveries.delete(name);
    }
  };

  const run = async () => {
    while (!stopping.signal.aborted) {
      await runRound().catch((error: unknown) => {
        if (classifyRedisError(error) === 'fault') log.error({ err: error }, 'webhooks wait');
      });
      await pause(ROUND_MS, stopping.signal);
    }
  };
  const ended = run();

  return {
    report: () => summarize([...deliveries.values()]),
    async stop() {
      stopping.abort();
      const grace = setTimeout(() => ending.abort(), STOP_GRACE_MS);
      await ended;
      await Promise.all([...deliveries.values()].map((delivery) => delivery.finishPosts()));
      clearTimeout(grace);
      if (lease.endMs > 0) await store.release();
    },
  };
}

function summarize(deliveries: readonly WebhookDelivery[]): WebhooksReport {
  const failing = deliveries.flatMap((delivery) => delivery.failingSinceMs() ?? []);
  return {
    waiting: deliveries.reduce((sum, delivery) => sum + delivery.waiting(), 0),
    failing: failing.length,
    failingSinceMs: failing.length === 0 ? undefined : Math.min(...failing),
  };
}

/** Nothing is posted for a name that has left the settings: `mayPost` sees to that. */
function gone(name: string): Webhook {
  return { name, url: '', secrets: [], events: [] };
}
