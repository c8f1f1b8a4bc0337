import { createHmac } from 'node:crypto';
import type { Secret } from '../../lib/secret.ts';

const PREFIX = 'whsec_';

interface UnsignedMessage {
  readonly id: string;
  readonly atS: number;
  readonly body: string;
}

/** The headers of a message as in the Standard Webhooks convention; each secret signs once. */
export function signWebhook(
  { id, atS, body }: UnsignedMessage,
  secrets: readonly Secret[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${atS}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(atS),
    'webhook-signature': signatures.join(' '),
  };
}
