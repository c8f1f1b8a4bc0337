export interface SimpleRequest {
  readonly model: string;
  readonly prompt: string;
  readonly tokensMax: number;
  readonly isStream: boolean;
}

/**
 * Builds the body of a request with one message, for people to read and edit. It is the same in
 * both formats.
 */
export function buildBody({ model, prompt, tokensMax, isStream }: SimpleRequest): string {
  const body = {
    model,
    max_tokens: tokensMax,
    messages: [{ role: 'user', content: prompt }],
    stream: isStream,
  };
  return JSON.stringify(body, null, 2);
}
