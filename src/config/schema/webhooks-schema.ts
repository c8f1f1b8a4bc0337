import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from '../../lib/secret.ts';
import { parseCredits } from '../../lib/units/micros.ts';
import { LIMIT_EVENT_TYPES } from '../../limits/limit-event-types.ts';
import type { SettingProblem } from '../setting-problem.ts';
import { fieldsOf, itemsOf, type RawFields, valuesOf } from './fields.ts';
import {
  expected,
  listOf,
  namedText,
  numberFrom,
  parsableText,
  settingsMap,
} from './schema-parts.ts';

const WEBHOOKS_MAX = 16;
const SECRETS_MAX = 4;
const HOSTS_MAX = 64;
const NETWORKS_MAX = 64;
const LOW_BALANCE_MAX = 1_000_000_000;
const BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

const lowError = expected('credits of 0 or more, with at most 6 decimals');
const lowBalance = numberFrom(0, LOW_BALANCE_MAX)
  .refine((credits) => parseCredits(credits) !== undefined, { error: lowError })
  .transform((credits) => parseCredits(credits) ?? 0);

export const warnings = settingsMap({
  at: numberFrom(0.01, 1).prefault(0.8),
  low_balance: lowBalance.prefault(0),
});

const host = namedText(
  'a host such as hooks.example.com or 203.0.113.7, in lower case and without a port',
  /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])$/,
);

const network = parsableText('a network such as 10.0.0.0/8 or fd00::/8', (text) => {
  const [address = '', bits, ...more] = text.split('/');
  const bitsMax = BITS[isIP(address)];
  const isWhole = bits === undefined || /^\d{1,3}$/.test(bits);
  if (bitsMax === undefined || more.length > 0 || !isWhole || Number(bits ?? 0) > bitsMax) {
    throw new Error('must be a network such as 10.0.0.0/8 or fd00::/8');
  }
  return { address, bits: Number(bits ?? bitsMax), family: isIP(address) as 4 | 6 };
});

const secret = namedText(
  'whsec_ and the base64 of 24 to 64 bytes',
  /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})?$/,
).transform((value) => new Secret(value));

const url = parsableText('a URL that begins with https:// or http://', (text) => {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new Error('must be a URL that begins with https:// or http://');
  }
  // A password would be shown wherever the settings are.
  if (parsed.username !== '' || parsed.password !== '' || parsed.hash !== '') {
    throw new Error('must have no user, no password and no fragment');
  }
  return parsed.href;
});

const endpoint = settingsMap({
  name: namedText('a name of at most 64 of a-z, 0-9 and -', /^[a-z0-9][a-z0-9-]{0,63}$/),
  url,
  secrets: listOf(secret, 'secrets', 1, SECRETS_MAX),
  events: listOf(
    z.enum(LIMIT_EVENT_TYPES, { error: expected(`one of ${LIMIT_EVENT_TYPES.join(', ')}`) }),
    'events',
    1,
    LIMIT_EVENT_TYPES.length,
  ).prefault([...LIMIT_EVENT_TYPES]),
});

export const webhooks = settingsMap({
  hosts: listOf(host, 'hosts', 0, HOSTS_MAX).prefault([]),
  private_networks: listOf(network, 'networks', 0, NETWORKS_MAX).prefault([]),
  endpoints: listOf(endpoint, 'webhooks', 0, WEBHOOKS_MAX).prefault([]),
});

/** Names that are used twice, and webhooks to hosts that are not allowed. */
export function findWebhookConflicts(given: RawFields): SettingProblem[] {
  const hosts = valuesOf(given['hosts']);
  const names = new Set<unknown>();
  return itemsOf(given['endpoints']).flatMap(([index, webhook]) => {
    const path = ['webhooks', 'endpoints', index];
    const problems: SettingProblem[] = [];
    const { name, url: text } = fieldsOf(webhook) as { name?: unknown; url?: unknown };
    if (names.has(name)) problems.push({ path: [...path, 'name'], message: 'is used twice' });
    names.add(name);
    if (typeof text === 'string' && URL.canParse(text) && !hosts.includes(new URL(text).hostname)) {
      problems.push({
        path: [...path, 'url'],
        message: 'has a host that webhooks.hosts does not name',
      });
    }
    return problems;
  });
}
