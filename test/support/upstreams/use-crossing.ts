import { beforeAll } from 'vitest';
import { FORMAT_PATHS, type FormatName } from '../../../src/protocol/format-names.ts';
import { type Gateway, startGateway } from '../servers/start-gateway.ts';
import { useCleanUp } from '../use-clean-up.ts';
import {
  type Answering,
  type RecordedBody,
  type RecordingUpstream,
  startRecordingUpstream,
} from './start-recording-upstream.ts';

export interface Crossing {
  gateway(): Gateway;
  /** Sends a request and reads the whole answer, streamed or not. */
  ask(format: FormatName, model: string, body: object): Promise<Answered>;
  /** The last request, as the upstream got it. */
  sent(): RecordedBody;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly type: string;
  /** The body of an answer that is not streamed. */
  json(): Record<string, unknown>;
}

const LIMITS: Readonly<Record<FormatName, object>> = {
  native: { max_tokens: 100 },
  chat: { max_tokens: 100 },
  responses: { max_output_tokens: 100, store: false },
};

/** The upstreams, by the name of the model that leads to each. */
const UPSTREAMS = {
  native: 'kind: native',
  'plain-native': 'kind: native, accepts: []',
  chat: 'kind: chat',
  'plain-chat': 'kind: chat, accepts: []',
  'rich-chat': 'kind: chat, accepts: [pdf, effort, reasoning_content, prompt_cache_key]',
  responses: 'kind: responses',
};

/**
 * Starts one gateway for a file, in front of a server of all formats with many ways in. Call it at
 * the top of the file.
 */
export function useCrossing(answering?: Answering, settings = ''): Crossing {
  const cleanUp = useCleanUp();
  let parts: { readonly gateway: Gateway; readonly upstream: RecordingUpstream } | undefined;
  const started = () => {
    if (parts === undefined) throw new Error('the crossing has not started');
    return parts;
  };
  beforeAll(async () => {
    const upstream = await startRecordingUpstream(cleanUp, answering);
    const config = `workers: 1\n${settings}${encodeConfig(upstream.url)}`;
    parts = { gateway: await startGateway({ config, cleanUp }), upstream };
  });
  return {
    gateway: () => started().gateway,
    sent: () => started().upstream.lastBody(),
    async ask(format, model, body) {
      const { gateway } = started();
      const response = await fetch(`${gateway.url}${FORMAT_PATHS[format]}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': gateway.key(),
          'llm-version': '2023-06-01',
        },
        body: JSON.stringify({ model, ...LIMITS[format], ...body }),
      });
      const text = await response.text();
      return {
        status: response.status,
        text,
        type: response.headers.get('content-type') ?? '',
        json: () => JSON.parse(text) as Record<string, unknown>,
      };
    },
  };
}

function encodeConfig(url: string): string {
  const rest = 'max_output_tokens: 1000, price: {input: 1, output: 5}';
  const names = Object.entries(UPSTREAMS);
  return [
    'models:',
    ...names.map(([name]) => `  - {id: ${name}, ${rest}, routes: [{upstream: ${name}}]}`),
    'upstreams:',
    ...names.map(([name, kind]) => `  - {name: ${name}, url: "${url}/${name}", ${kind}}`),
    '',
  ].join('\n');
}
