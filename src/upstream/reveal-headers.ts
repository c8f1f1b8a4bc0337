import type { Secret } from '../lib/secret.ts';

/** Name, value, name, value, …; to be called for each request, so that no other copy is kept. */
export function revealHeaders(headers: Readonly<Record<string, Secret>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => [name, value.reveal()]);
}
