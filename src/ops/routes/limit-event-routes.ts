import { showEvent } from '../../events/limit-event.ts';
import type { ConfiguredWebhook, LimitEventsDesk } from '../../events/limit-events-desk.ts';
import { showTime } from '../../lib/time/show-time.ts';
import { OpsProblem } from '../ops-problem.ts';
import {
  limitEventsAnswer,
  limitEventsQuery,
  webhooksAnswer,
  webhookTestAnswer,
} from '../schemas/limit-event-schemas.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';

export interface LimitEventRoutesOptions {
  readonly limitEvents: LimitEventsDesk;
}

export function createLimitEventRoutes({
  limitEvents,
}: LimitEventRoutesOptions): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/limit-events',
      role: 'viewer',
      summary: 'Events of limits and balances, the newest first',
      query: limitEventsQuery,
      answer: limitEventsAnswer,
      async handle({ query: { account: accountId, ...query } }) {
        const { events, next } = await limitEvents.list({ accountId, ...query });
        const data = events.map(({ number, event }) => ({ number, ...showEvent(event) }));
        return { status: 200, body: { data, next: next === undefined ? null : String(next) } };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/webhooks',
      role: 'viewer',
      summary: 'The webhooks of the settings, and how they go',
      answer: webhooksAnswer,
      async handle() {
        const webhooks = await limitEvents.webhooks();
        return { status: 200, body: { data: webhooks.map(showWebhook) } };
      },
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/webhooks/{id}/test',
      role: 'operator',
      summary: 'Send a test event to a webhook, from the node that is asked',
      changes: 'webhook.test',
      answer: webhookTestAnswer,
      async handle({ id, signal }) {
        const end = await limitEvents.test(id, signal);
        if (end === undefined) {
          const names = limitEvents.names().join(', ') || 'none';
          throw new OpsProblem(
            404,
            'webhook_not_found',
            `the settings have these webhooks: ${names}`,
          );
        }
        const { status = null } = end;
        const reason = end.kind === 'failed' ? end.reason : null;
        const body = { name: id, delivered: end.kind === 'delivered', status, reason };
        return { status: 200, body, change: { account: null, after: body } };
      },
    }),
  ];
}

function showWebhook({ state, ...webhook }: ConfiguredWebhook) {
  const { waiting, dropped, deliveredMs, failing } = state;
  return {
    ...{ ...webhook, waiting, dropped },
    delivered_at: deliveredMs === undefined ? null : showTime(deliveredMs),
    failing_since: failing === undefined ? null : showTime(failing.sinceMs),
    reason: failing?.reason ?? null,
  };
}
