import type { HeaderSource } from '../../format.ts';
import { Refusal } from '../../refusals.ts';

/** Clients of both versions behave alike here; the newer version only has fewer fields. */
const VERSIONS = ['2023-06-01', '2026-10-21'];

export const BETA_CONTEXT = 'context-1m';
const BETAS_MAX = 32;
const BETA_INTERLEAVED = 'interleaved-thinking';
const NO_BETAS: readonly string[] = [];
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

/** Whether a client asks for the larger window. Unknown betas are allowed. */
export function wantsBetaContext(header: HeaderSource): boolean {
  return listsBetaContext(header('llm-beta')) || listsBetaContext(header('anthropic-beta'));
}

function listsBetaContext(list: string | undefined): boolean {
  if (list === undefined || !list.includes(BETA_CONTEXT)) return false;
  return list.split(',').some((beta) => beta.trim().startsWith(BETA_CONTEXT));
}

/** Lists the other betas that a client asks for: fields of its body may need them. */
export function readBetas(header: HeaderSource): readonly string[] {
  const lists = [header('llm-beta'), header('anthropic-beta')];
  if (lists[0] === undefined && lists[1] === undefined) return NO_BETAS;
  const listed = lists.flatMap((list) => list?.split(',') ?? []);
  const betas = listed
    .map((beta) => beta.trim())
    .filter((beta) => BETA.test(beta) && !beta.startsWith(BETA_CONTEXT));
  return [...new Set(betas)].slice(0, BETAS_MAX);
}

/** Whether all turns of tools share the budget for thinking, so that it may exceed one of them. */
export function sharesBudget(betas: readonly string[], tools: readonly unknown[]): boolean {
  return tools.length > 0 && betas.some((beta) => beta.startsWith(BETA_INTERLEAVED));
}
