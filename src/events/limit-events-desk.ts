import type { EventsQuery, ListedEvents } from './list/event-list.ts';
import type { PostEnd } from './webhooks/post-webhook.ts';
import type { WebhookState } from './webhooks/webhook-store.ts';

export interface ConfiguredWebhook {
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[];
  /** How many it has. */
  readonly secrets: number;
  readonly state: WebhookState;
}

/** Answers operators' questions about events of limits, and about the webhooks that get them. */
export interface LimitEventsDesk {
  list(query: EventsQuery): Promise<ListedEvents>;
  names(): readonly string[];
  webhooks(): Promise<readonly ConfiguredWebhook[]>;
  /** Undefined if there is no such webhook. */
  test(name: string, signal: AbortSignal): Promise<PostEnd | undefined>;
}
