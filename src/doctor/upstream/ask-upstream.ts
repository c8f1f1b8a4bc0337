import type { UpstreamConfig } from '../../config/config.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { createHttpClient } from '../../upstream/http1/create-http-client.ts';
import type { HttpFailure } from '../../upstream/http1/http-failure.ts';
import { parseOrigin } from '../../upstream/http1/origin.ts';
import { readUpstreamTls } from '../../upstream/read-upstream-tls.ts';
import { revealHeaders } from '../../upstream/reveal-headers.ts';
import { dialectOf } from '../../upstream/upstream-dialect.ts';

const ANSWER_TIME_MAX_MS = 5_000;

export type UpstreamAnswer =
  | { readonly kind: 'answer'; readonly status: number }
  | { readonly kind: 'failure'; readonly failure: HttpFailure }
  | { readonly kind: 'silent'; readonly afterMs: number };

/** Sends a harmless request, over a connection like those of client requests. */
export function askUpstream(
  upstream: UpstreamConfig,
  url: URL,
  path: string,
  clock: Clock,
): Promise<UpstreamAnswer> {
  const client = createHttpClient({
    origin: parseOrigin(url),
    connectionsMax: 1,
    connectTimeoutMs: upstream.timeouts.connectMs,
    tls: readUpstreamTls(upstream),
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
      { method: 'GET', path, headers: headersOf(upstream), body: undefined },
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

function headersOf({ kind, apiKey, headers }: UpstreamConfig): string[] {
  const dialect = dialectOf(kind === 'simulated' ? 'native' : kind);
  return [
    ...['accept', 'application/json'],
    ...dialect.encodeProbeHeaders(apiKey?.reveal()),
    ...revealHeaders(headers),
  ];
}
