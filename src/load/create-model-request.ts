import type { FormatName } from '../protocol/format-names.ts';

interface ModelRequestOptions {
  readonly format: FormatName;
  readonly model: string;
  readonly key: string;
  readonly isStream: boolean;
  /** The size of the whole body. If absent or too small, the body is as small as possible. */
  readonly bodyBytes: number | undefined;
}

interface ModelRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const PROMPT = 'Say hello.';
const OUTPUT_TOKENS_MAX = 16;

/** Builds a request that asks a model for a few words. */
export function createModelRequest(options: ModelRequestOptions): ModelRequest {
  const { format, key, bodyBytes = 0 } = options;
  const least = encodeBody(options, PROMPT);
  const padding = ' hello'.repeat(Math.ceil(bodyBytes / 6)).slice(0, bodyBytes - least.length);
  return {
    path: format === 'native' ? '/v1/messages' : '/v1/chat/completions',
    headers: {
      'content-type': 'application/json',
      ...(format === 'native'
        ? { 'x-api-key': key, 'llm-version': '2023-06-01' }
        : { authorization: `Bearer ${key}` }),
    },
    body: bodyBytes > least.length ? encodeBody(options, PROMPT + padding) : least,
  };
}

function encodeBody({ model, isStream }: ModelRequestOptions, content: string): Uint8Array {
  const messages = [{ role: 'user', content }];
  return Buffer.from(
    JSON.stringify({ model, max_tokens: OUTPUT_TOKENS_MAX, stream: isStream, messages }),
  );
}
