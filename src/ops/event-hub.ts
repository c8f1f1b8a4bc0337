import type { ServerResponse } from 'node:http';
import { OpsProblem } from './ops-problem.ts';
import type { EVENT_SCHEMAS } from './schemas/event-schemas.ts';

const SUBSCRIBERS_MAX = 20;
/** The bytes that one subscriber has not read yet. */
const QUEUE_BYTES_MAX = 256 * 1024;
const RETRY_AFTER_S = 5;

export interface OpsEvent {
  readonly type: Exclude<keyof typeof EVENT_SCHEMAS, 'missed'>;
  readonly data: object;
}

export interface EventHub {
  publish(event: OpsEvent): void;
  hasSubscribers(): boolean;
  /** Throws before anything is written if there are too many subscribers. */
  subscribe(response: ServerResponse): void;
}

interface Subscriber {
  readonly response: ServerResponse;
  /** The number of events that were dropped because the queue was full. */
  missed: number;
}

/**
 * Publishes events to all subscribers. A subscriber that reads too slowly misses events, and is
 * told how many.
 */
export function createEventHub(): EventHub {
  const subscribers = new Set<Subscriber>();

  const send = (subscriber: Subscriber, text: string) => {
    const { response } = subscriber;
    if (response.writableLength + text.length > QUEUE_BYTES_MAX) {
      subscriber.missed += 1;
      return;
    }
    if (subscriber.missed > 0) {
      response.write(encodeEvent('missed', { events: subscriber.missed }));
      subscriber.missed = 0;
    }
    response.write(text);
  };

  return {
    publish({ type, data }) {
      if (subscribers.size === 0) return;
      const text = encodeEvent(type, data);
      for (const subscriber of subscribers) send(subscriber, text);
    },
    hasSubscribers: () => subscribers.size > 0,
    subscribe(response) {
      if (subscribers.size >= SUBSCRIBERS_MAX) {
        throw new OpsProblem(503, 'too_many_subscribers', 'too many listen to events already', {
          headers: { 'retry-after': String(RETRY_AFTER_S) },
        });
      }
      // A response that is destroyed already emits no further 'close' event, so it would never be
      // removed.
      if (response.destroyed) return;
      const subscriber = { response, missed: 0 };
      subscribers.add(subscriber);
      response.once('close', () => subscribers.delete(subscriber));
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(': open\n\n');
    },
  };
}

function encodeEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
