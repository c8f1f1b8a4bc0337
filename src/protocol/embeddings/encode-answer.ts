import type { Usage } from '../inference.ts';

/** What clients read for each input. */
export interface EmbeddingEntry {
  readonly object: 'embedding';
  readonly index: number;
  readonly embedding: string | readonly number[];
}

/** Writes the whole answer. */
export function encodeEmbeddings(
  data: readonly EmbeddingEntry[],
  model: string,
  { input }: Pick<Usage, 'input'>,
): Buffer {
  const usage = { prompt_tokens: input, total_tokens: input };
  return Buffer.from(JSON.stringify({ object: 'list', data, model, usage }));
}
