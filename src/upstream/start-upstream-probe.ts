import type { Secret } from '../lib/secret.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { FormatName } from '../protocol/format-names.ts';
import { createHttpClient } from './http1/create-http-client.ts';
import type { HttpClient } from './http1/http-client.ts';
import type { TlsOptions } from './http1/open-socket.ts';
import { parseOrigin } from './http1/origin.ts';
import { revealHeaders } from './reveal-headers.ts';
import { dialectOf } from './upstream-dialect.ts';

/** A single lost answer can happen to any upstream. */
const FAILURES_IN_ROW_MAX = 2;

export interface UpstreamProbe {
  /** Whether the upstream counts as down. */
  isDown(): boolean;
  /**
   * The result of the last question: a status, or why there is none. Undefined before the first
   * answer.
   */
  lastResult(): string | undefined;
  stop(): void;
}

interface UpstreamProbeOptions {
  readonly kind: FormatName;
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, Secret>>;
  readonly tls: TlsOptions;
  /** From the root of the host. */
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Whether the probe before this one left the upstream down. */
  readonly isDown: boolean;
  readonly clock: Clock;
  readonly onChange: (isDown: boolean, result: string) => void;
}

/**
 * Asks an upstream again and again whether it is up, independent of clients. Any status below 500
 * means that it is. The next question waits until the last one is over.
 */
export function startUpstreamProbe(options: UpstreamProbeOptions): UpstreamProbe {
  const client = createHttpClient({
    origin: parseOrigin(new URL(options.url)),
    connectionsMax: 1,
    connectTimeoutMs: options.timeoutMs,
    tls: options.tls,
    clock: options.clock,
  });
  let isDown = options.isDown;
  let failuresInRow = 0;
  let lastResult: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const note = ({ isAlive, result }: Answer) => {
    failuresInRow = isAlive ? 0 : failuresInRow + 1;
    lastResult = result;
    const wasDown = isDown;
    isDown = !isAlive && (wasDown || failuresInRow >= FAILURES_IN_ROW_MAX);
    if (isDown !== wasDown) options.onChange(isDown, result);
  };
  const askOn = async () => {
    const answer = await askOnce(client, options);
    if (isStopped) return;
    note(answer);
    timer = setTimeout(askOn, options.intervalMs);
  };
  void askOn();

  return {
    isDown: () => isDown,
    lastResult: () => lastResult,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      client.close();
    },
  };
}

interface Answer {
  readonly isAlive: boolean;
  readonly result: string;
}

function askOnce(client: HttpClient, options: UpstreamProbeOptions): Promise<Answer> {
  const { kind, path, apiKey, headers, timeoutMs } = options;
  return new Promise((resolve) => {
    let answer: Answer = { isAlive: false, result: `no answer within ${timeoutMs} ms` };
    const finish = () => {
      clearTimeout(timer);
      resolve(answer);
    };
    const exchange = client.send(
      {
        method: 'GET',
        path,
        headers: [
          ...['accept', 'application/json'],
          ...dialectOf(kind).encodeProbeHeaders(apiKey?.reveal()),
          ...revealHeaders(headers),
        ],
        body: undefined,
      },
      {
        onHead(status) {
          answer = { isAlive: status < 500, result: `status ${status}` };
        },
        onData() {},
        onEnd: finish,
        onFail(failure) {
          if (!answer.isAlive) answer = { isAlive: false, result: failure.reason };
          finish();
        },
      },
    );
    const timer = setTimeout(() => {
      exchange.abort();
      finish();
    }, timeoutMs);
  });
}
