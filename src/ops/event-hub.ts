import type { ServerResponse } from 'node:http';
import { OpsProblem } from './ops-problem.ts';
import type { EVENT_SCHEMAS } from './schemas/event-schemas.ts';

const SUBSCRIBERS_MAX = 20;
/** So that one operator leaves room for the others. */
const SUBSCRIBERS_OF_OPERATOR_MAX = 10;
/** The bytes that one subscriber has not read yet. */
const QUEUE_BYTES_MAX = 256 * 1024;
const RETRY_AFTER_S = 5;

/** An event of the node that publishes it. */
interface OpsEvent {
  readonly type: Exclude<keyof typeof EVENT_SCHEMAS, 'missed'>;
  readonly data: object;
}

export type PublishEvent = (event: OpsEvent) => void;

/** An event of any node. `node` is null if it is about all of them together. */
interface FleetEvent extends OpsEvent {
  readonly node: string | null;
}

export interface EventHub {
  publish(event: FleetEvent): void;
  hasSubscribers(): boolean;
  /** Whether somebody listens to this node alone. */
  isWatched(node: string): boolean;
  /**
   * Sends the events of this node; without one, those of every node, and summaries of all together.
   * Throws before anything is written if there are too many subscribers, or too many of one
   * operator.
   */
  subscribe(response: ServerResponse, who: Listener): void;
}

interface Listener {
  /** The id; null for the admin token. */
  readonly operator: string | null;
  readonly node: string | undefined;
}

interface Subscriber extends Listener {
  readonly response: ServerResponse;
  /** The number of events that were dropped because the queue was full. */
  missed: number;
}

/**
 * Publishes events to all subscribers. A subscriber that reads too slowly misses events, and
 * learns how many.
 */
export function createEventHub(): EventHub {
  const subscribers = new Set<Subscriber>();

  const send = (subscriber: Subscriber, text: string) => {
    const { response } = subscriber;
    // Its reader was revoked.
    if (response.writableEnded) return;
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

  const hasPlenty = ({ operator }: Listener) => {
    if (operator === null) return false;
    const own = [...subscribers].filter((subscriber) => subscriber.operator === operator);
    return own.length >= SUBSCRIBERS_OF_OPERATOR_MAX;
  };

  return {
    publish(event) {
      if (subscribers.size === 0) return;
      const text = encodeEvent(event.type, { ...event.data, node: event.node });
      for (const subscriber of subscribers) {
        if (isFor(subscriber, event)) send(subscriber, text);
      }
    },
    hasSubscribers: () => subscribers.size > 0,
    isWatched: (node) => [...subscribers].some((subscriber) => subscriber.node === node),
    subscribe(response, who) {
      if (subscribers.size >= SUBSCRIBERS_MAX || hasPlenty(who)) {
        throw new OpsProblem(503, 'too_many_subscribers', 'too many listen to events already', {
          headers: { 'retry-after': String(RETRY_AFTER_S) },
        });
      }
      // A response that is destroyed already emits no further 'close' event, so it would never be
      // removed.
      if (response.destroyed) return;
      const subscriber = { ...who, response, missed: 0 };
      subscribers.add(subscriber);
      response.once('close', () => subscribers.delete(subscriber));
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(': open\n\n');
    },
  };
}

function isFor(subscriber: Subscriber, { type, node }: FleetEvent): boolean {
  if (subscriber.node !== undefined) return subscriber.node === node;
  return type !== 'summary' || node === null;
}

function encodeEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
