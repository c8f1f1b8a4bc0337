import { randomBytes } from 'node:crypto';
import type { Resolve } from './find-addresses.ts';
import { type PostEnd, postWebhook } from './post-webhook.ts';
import type { WebhookSettings } from './start-webhooks.ts';

const ID_BYTES = 16;

interface TestOptions {
  readonly resolve: Resolve;
  readonly settings: WebhookSettings;
  readonly userAgent: string;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends a test event, from this node. Undefined if there is no such webhook, or if the signal
 * ended it.
 */
export async function testWebhook(
  name: string,
  { settings, ...options }: TestOptions,
): Promise<PostEnd | undefined> {
  const webhook = settings.endpoints.find((each) => each.name === name);
  if (webhook === undefined) return undefined;
  const body = {
    type: 'webhook.test',
    timestamp: new Date(options.nowMs).toISOString(),
    data: { webhook: name },
  };
  const id = `evt_test_${randomBytes(ID_BYTES).toString('hex')}`;
  const message = { id, body: JSON.stringify(body) };
  return postWebhook(webhook, message, { rules: settings, ...options });
}
