import { onTestFinished } from 'vitest';
import type { Clock } from '../../../src/lib/time/clock.ts';
import {
  createHttpClient,
  type HttpClientOptions,
} from '../../../src/upstream/http1/create-http-client.ts';
import type { HttpRequest } from '../../../src/upstream/http1/encode-request.ts';
import type {
  HttpClient,
  HttpExchange,
  HttpHeaders,
} from '../../../src/upstream/http1/http-client.ts';
import type { HttpFailure } from '../../../src/upstream/http1/http-failure.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** No connection grows old: if one closes, it closes for another reason. */
const STANDING_CLOCK: Clock = { nowMs: () => 1e12 };

/** A client whose connections end with the running test. */
export function useClient(port: number, options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = createHttpClient({
    origin: { protocol: 'http:', host: '127.0.0.1', port },
    connectionsMax: 8,
    connectTimeoutMs: 20_000,
    clock: STANDING_CLOCK,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

export const GET: HttpRequest = { method: 'GET', path: '/', headers: [], body: undefined };

export function post(body: string | Uint8Array): HttpRequest {
  return {
    method: 'POST',
    path: '/v1/messages',
    headers: ['content-type', 'application/json'],
    body: [Buffer.from(body)],
  };
}

/** Everything that was told about one exchange, in order. */
export interface Told {
  readonly exchange: HttpExchange;
  readonly events: string[];
  status(): number | undefined;
  headers(): HttpHeaders | undefined;
  body(): string;
  failure(): HttpFailure | undefined;
  /** Whether the exchange has ended or failed. */
  isOver(): boolean;
  waitForOver(): Promise<void>;
  waitForBody(body: string): Promise<void>;
}

/** `react` runs inside each call, after the call is noted. */
export function tell(
  client: HttpClient,
  request: HttpRequest,
  react: (event: string, exchange: HttpExchange) => void = () => {},
): Told {
  const events: string[] = [];
  const chunks: Uint8Array[] = [];
  let status: number | undefined;
  let headers: HttpHeaders | undefined;
  let failure: HttpFailure | undefined;
  let overCount = 0;
  const note = (event: string) => {
    events.push(event);
    react(event, exchange);
  };
  const exchange: HttpExchange = client.send(request, {
    onHead(number, values) {
      status = number;
      headers = values;
      note('head');
    },
    onData(chunk) {
      chunks.push(new Uint8Array(chunk));
      note('data');
    },
    onEnd() {
      overCount += 1;
      note('end');
    },
    onFail(reason) {
      overCount += 1;
      failure = reason;
      note(`fail ${reason.kind}`);
    },
  });
  const told: Told = {
    exchange,
    events,
    status: () => status,
    headers: () => headers,
    body: () => Buffer.concat(chunks).toString('latin1'),
    failure: () => failure,
    isOver: () => overCount > 0,
    waitForOver: () =>
      waitUntil(() => overCount > 0, `the exchange is over; told so far: ${events.join(', ')}`),
    waitForBody: (body) => waitUntil(() => told.body() === body, `the body is ${body}`),
  };
  return told;
}

/** Sends a request and waits until it is over. */
export async function ask(client: HttpClient, request: HttpRequest = GET): Promise<Told> {
  const told = tell(client, request);
  await told.waitForOver();
  return told;
}
