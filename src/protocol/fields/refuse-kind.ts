import { Refusal } from '../refusals.ts';

const KIND_CHARS_MAX = 64;

/**
 * Refuses what an upstream's format cannot express, because leaving it out would change the
 * request.
 */
export function refuseKind(path: string, what: string): Refusal {
  return new Refusal('invalid_request', `${path}: this model does not take ${what}`, {
    param: path,
  });
}

/** Quotes a kind, shortened: clients choose it, so it may be of any length. */
export function nameKind(kind: unknown): string {
  return `\`${String(kind).slice(0, KIND_CHARS_MAX)}\``;
}
