import { afterAll, beforeAll, beforeEach } from 'vitest';
import { decodeEvent, type LimitEvent } from '../../src/events/limit-event.ts';
import type { RawEvent } from '../../src/events/list/event-list.ts';
import { startWebhooks, type WebhookSettings } from '../../src/events/webhooks/start-webhooks.ts';
import type { DeliveryOutcome } from '../../src/events/webhooks/webhook-delivery.ts';
import { Secret } from '../../src/lib/secret.ts';
import { EVENT_KEYS } from '../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhooks/start-receiver.ts';

/** Events are as old as the clock of Redis says. */
export const START_MS = Date.now();
export const BUCKET = 3;
export const NAME = 'billing';

/** A Redis, which is empty before each test, and a receiver of webhooks for each test. */
export function useWebhookScene() {
  const cleanUp = useCleanUp();
  let connection: TestConnection;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    const { port } = await startRedisServer();
    connection = openConnection(standalone(tcp(port)));
    await waitForRedis(connection);
  });
  beforeEach(async () => {
    await connection.send('flushall', []);
    receiver = await startReceiver(cleanUp);
  });
  afterAll(async () => {
    await closeConnections();
    await stopRedisServers();
  });

  return {
    get connection() {
      return connection;
    },
    get receiver() {
      return receiver;
    },
    cursorOf: () => connection.send('hget', [EVENT_KEYS.webhook(NAME), 'cursor']),
    receivedIds: () => receiver.received.map(({ headers }) => headers['webhook-id']),

    /** A node's part in webhooks, with a clock of its own. */
    tell({ nowMs = () => START_MS, events = ['limit.warning'] } = {}) {
      const settings: WebhookSettings = {
        hosts: ['127.0.0.1'],
        privateNetworks: [{ address: '127.0.0.0', bits: 8, family: 4 }],
        endpoints: [{ name: NAME, url: receiver.url, secrets: [new Secret('whsec_AQEB')], events }],
      };
      const outcomes: Record<DeliveryOutcome, number> = {
        delivered: 0,
        failed: 0,
        dropped: 0,
        lost: 0,
      };
      const log = createMemoryLog();
      const webhooks = startWebhooks({
        ...{ connection, nodeId: 'a-node', settings: () => settings, userAgent: 'tollgate', log },
        resolve: () => Promise.reject(new Error('there are no names')),
        onOutcome: (outcome, count) => {
          outcomes[outcome] += count;
        },
        clock: { nowMs },
        random: () => 0,
      });
      return { outcomes, log, report: webhooks.report, stop: webhooks.stop };
    },
  };
}

/** An event of its own for each number, as a script tells it. */
export function textOf(number: number, atMs = START_MS, kind: 'w' | 'l' = 'w'): string {
  const what = kind === 'w' ? 'w|key|03key|t|60000|100' : 'l|account|acct_03a|c||5';
  return `${what}|80|0|acct_03a|03key|${number}|${atMs}`;
}

export function rawOf(text: string): RawEvent {
  return { text, event: decodeEvent(text) as LimitEvent };
}
