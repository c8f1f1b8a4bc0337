import { Refusal } from '../refusals.ts';

const KIND_CHARS_MAX = 64;

/** What an upstream has no words for: leaving it out would change what was asked. */
export function refuseKind(path: string, what: string): Refusal {
  return new Refusal('invalid_request', `${path}: this model does not take ${what}`, {
    param: path,
  });
}

/** Kinds are named by clients, at any length. */
export function nameKind(kind: unknown): string {
  return `\`${String(kind).slice(0, KIND_CHARS_MAX)}\``;
}
