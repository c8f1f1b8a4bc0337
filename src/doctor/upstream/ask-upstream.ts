import type { UpstreamConfig } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { createHttpClient } from '../../upstream/http1/create-http-client.ts';
import type { HttpFailure } from '../../upstream/http1/http-failure.ts';
import type { Origin } from '../../upstream/http1/origin.ts';

const ANSWER_TIME_MAX_MS = 5_000;
/** The one that the native format names in all of its versions. */
const NATIVE_VERSION = '2023-06-01';

export type UpstreamAnswer =
  | { readonly kind: 'answer'; readonly status: number }
  | { readonly kind: 'failure'; readonly failure: HttpFailure }
  | { readonly kind: 'silent'; readonly afterMs: number };

export function originOf(url: URL): Origin {
  const isTls = url.protocol === 'https:';
  return {
    protocol: isTls ? 'https:' : 'http:',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
  };
}

/** Asks for the list of models, over a connection as requests have it. */
export function askUpstream(
  upstream: UpstreamConfig,
  url: URL,
  clock: Clock,
): Promise<UpstreamAnswer> {
  const client = createHttpClient({
    origin: originOf(url),
    connectionsMax: 1,
    connectTimeoutMs: upstream.timeouts.connectMs,
    clock,
  });
  const timeMaxMs = upstream.timeouts.connectMs + ANSWER_TIME_MAX_MS;
  return new Promise((resolve) => {
    const finish = (answer: UpstreamAnswer) => {
      clearTimeout(timer);
      exchange.abort();
      client.close();
      resolve(answer);
    };
    const exchange = client.send(
      { method: 'GET', path: pathOf(url), headers: headersOf(upstream), body: undefined },
      {
        onHead: (status) => finish({ kind: 'answer', status }),
        onData() {},
        onEnd() {},
        onFail: (failure) => finish({ kind: 'failure', failure }),
      },
    );
    const timer = setTimeout(() => finish({ kind: 'silent', afterMs: timeMaxMs }), timeMaxMs);
  });
}

/** Addresses are written with their version and without it. */
export function pathOf({ pathname }: URL): string {
  const base = pathname.replace(/\/+$/, '');
  return base.endsWith('/v1') ? `${base}/models` : `${base}/v1/models`;
}

function headersOf({ kind, apiKey }: UpstreamConfig): string[] {
  const key = apiKey?.reveal();
  const accept = ['accept', 'application/json'];
  if (kind === 'chat') {
    return key === undefined ? accept : [...accept, 'authorization', `Bearer ${key}`];
  }
  const native = [...accept, 'anthropic-version', NATIVE_VERSION];
  return key === undefined ? native : [...native, 'x-api-key', key];
}
