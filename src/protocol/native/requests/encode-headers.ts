import type { InferenceRequest } from '../../inference.ts';
import { BETA_CONTEXT } from './decode-headers.ts';

type Header = readonly [name: string, value: string];

/** The older version, because the newer one refuses fields that clients of both may send here. */
const VERSION = '2023-06-01';
const BETA_CONTEXT_DATED = `${BETA_CONTEXT}-2025-08-07`;

/** Writes the headers that an upstream of the native format needs beside its key. */
export function encodeNativeHeaders({
  isBetaContext,
  betas,
}: Pick<InferenceRequest, 'isBetaContext' | 'betas'>): readonly Header[] {
  const all = isBetaContext ? [...betas, BETA_CONTEXT_DATED] : betas;
  const version: Header = ['anthropic-version', VERSION];
  return all.length > 0 ? [version, ['anthropic-beta', all.join(',')]] : [version];
}
