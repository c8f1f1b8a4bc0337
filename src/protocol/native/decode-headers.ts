import type { HeaderSource } from '../format.ts';
import { Refusal } from '../refusals.ts';

/** Clients of both behave alike here; the newer one only has fewer fields. */
const VERSIONS = ['2023-06-01', '2026-10-21'];

export const BETA_CONTEXT = 'context-1m';

export function checkVersion(header: HeaderSource): void {
  const version = header('llm-version') || header('anthropic-version');
  if (!version) {
    throw new Refusal('missing_field', 'llm-version: header is required', { param: 'llm-version' });
  }
  if (!VERSIONS.includes(version)) {
    throw new Refusal(
      'invalid_request',
      `llm-version: "${version}" is not a valid version; use ${VERSIONS.join(' or ')}`,
      { param: 'llm-version' },
    );
  }
}

/** Betas that nobody here knows are let through. */
export function wantsBetaContext(header: HeaderSource): boolean {
  return [header('llm-beta'), header('anthropic-beta')].some((list) =>
    list?.split(',').some((beta) => beta.trim().startsWith(BETA_CONTEXT)),
  );
}
