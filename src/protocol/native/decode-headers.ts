import type { HeaderSource } from '../format.ts';
import { Refusal } from '../refusals.ts';

/** Clients of both behave alike here; the newer one only has fewer fields. */
const VERSIONS = ['2023-06-01', '2026-10-21'];

export const BETA_CONTEXT = 'context-1m';
const BETAS_MAX = 32;
const BETA = /^[a-zA-Z0-9._:-]{1,128}$/;

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

/** The betas that a client asks for and nobody here knows: fields of its body may need them. */
export function readBetas(header: HeaderSource): readonly string[] {
  const listed = [header('llm-beta'), header('anthropic-beta')].flatMap(
    (list) => list?.split(',') ?? [],
  );
  const betas = listed
    .map((beta) => beta.trim())
    .filter((beta) => BETA.test(beta) && !beta.startsWith(BETA_CONTEXT));
  return [...new Set(betas)].slice(0, BETAS_MAX);
}
