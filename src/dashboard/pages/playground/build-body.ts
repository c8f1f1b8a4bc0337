import type { FormatName } from '../../../protocol/format-names.ts';

export interface SimpleRequest {
  readonly model: string;
  readonly prompt: string;
  readonly tokensMax: number;
  readonly isStream: boolean;
}

/** Builds the body of a request with one message, for people to read and edit. */
export function buildBody(
  { model, prompt, tokensMax, isStream }: SimpleRequest,
  format: FormatName,
): string {
  const asked =
    format === 'responses'
      ? { max_output_tokens: tokensMax, input: prompt, store: false }
      : { max_tokens: tokensMax, messages: [{ role: 'user', content: prompt }] };
  return JSON.stringify({ model, ...asked, stream: isStream }, null, 2);
}
