import type { Secret } from '../lib/secret.ts';

/** Many vendors refuse requests that do not say who sends them. */
const USER_AGENT = 'tollgate';

/**
 * The headers of the settings, and a name for us that they may replace: name, value, name, value, …
 * Call this for each request, so that no other copy of the secrets is kept.
 */
export function revealHeaders(headers: Readonly<Record<string, Secret>>): string[] {
  const own = Object.entries(headers).flatMap(([name, value]) => [name, value.reveal()]);
  return headers['user-agent'] === undefined ? ['user-agent', USER_AGENT, ...own] : own;
}
