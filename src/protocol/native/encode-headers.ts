import type { HeaderSource } from '../format.ts';
import type { InferenceRequest } from '../inference.ts';
import { BETA_CONTEXT } from './decode-headers.ts';

type Header = readonly [name: string, value: string];

/** The older version: the newer one refuses fields that clients of both may send here. */
const VERSION = '2023-06-01';
const BETA_CONTEXT_DATED = `${BETA_CONTEXT}-2025-08-07`;
const BETAS_MAX = 32;
const BETA = /^[a-zA-Z0-9._:-]{1,128}$/;

/** What an upstream of the native format wants beside its key. */
export function encodeNativeHeaders(
  { isBetaContext }: Pick<InferenceRequest, 'isBetaContext'>,
  betas: readonly string[],
): readonly Header[] {
  const all = isBetaContext ? [...betas, BETA_CONTEXT_DATED] : betas;
  const version: Header = ['anthropic-version', VERSION];
  return all.length > 0 ? [version, ['anthropic-beta', all.join(',')]] : [version];
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
