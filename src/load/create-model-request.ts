import { FORMAT_PATHS, type FormatName } from '../protocol/format-names.ts';

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
    path: FORMAT_PATHS[format],
    headers: {
      'content-type': 'application/json',
      ...(format === 'native'
        ? { 'x-api-key': key, 'llm-version': '2023-06-01' }
        : { authorization: `Bearer ${key}` }),
    },
    body: bodyBytes > least.length ? encodeBody(options, PROMPT + padding) : least,
  };
}

function encodeBody(options: ModelRequestOptions, content: string): Uint8Array {
  const { format, model, isStream } = options;
  const asked =
    format === 'responses'
      ? { max_output_tokens: OUTPUT_TOKENS_MAX, store: false, input: content }
      : { max_tokens: OUTPUT_TOKENS_MAX, messages: [{ role: 'user', content }] };
  return Buffer.from(JSON.stringify({ model, stream: isStream, ...asked }));
}
