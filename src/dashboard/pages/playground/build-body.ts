export interface SimpleRequest {
  readonly model: string;
  readonly prompt: string;
  readonly tokensMax: number;
  readonly isStream: boolean;
}

/** The body of a request of one message, for people to read and edit. Both formats have it alike. */
export function buildBody({ model, prompt, tokensMax, isStream }: SimpleRequest): string {
  const body = {
    model,
    max_tokens: tokensMax,
    messages: [{ role: 'user', content: prompt }],
    stream: isStream,
  };
  return JSON.stringify(body, null, 2);
}
