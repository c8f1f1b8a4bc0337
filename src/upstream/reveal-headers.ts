import type { Secret } from '../lib/secret.ts';

/**
 * Name, value, name, value, … Call this for each request, so that no other copy of the secrets is
 * kept.
 */
export function revealHeaders(headers: Readonly<Record<string, Secret>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => [name, value.reveal()]);
}
