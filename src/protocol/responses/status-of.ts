import type { HeaderSource } from '../format.ts';
import type { Refusal } from '../refusals.ts';

/**
 * Codex repeats a request five times that is refused with 402, and shows its user at once what is
 * refused with 429 and `insufficient_quota`.
 */
export function statusOf({ chatStatus }: Refusal, header: HeaderSource): number {
  return chatStatus === 402 && isCodex(header) ? 429 : chatStatus;
}

function isCodex(header: HeaderSource): boolean {
  return header('originator')?.startsWith('codex') === true;
}
