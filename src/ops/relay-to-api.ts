import { once } from 'node:events';
import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Endpoint } from '../lib/address/endpoint.ts';
import { reachableHost } from '../lib/address/reachable-host.ts';
import { OpsProblem } from './ops-problem.ts';

/** From the request to the last byte of its answer. */
const RELAY_TIME_MAX_MS = 600_000;

/** Headers that describe one connection, not the answer. */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding']);

export interface ApiPlace {
  readonly endpoint: Endpoint;
  /** How many proxies the API expects between its clients and itself. */
  readonly trustedProxies: number;
}

export interface ApiRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Relays the answer of this node's API as it arrives. `x-tollgate-answered-by` distinguishes the
 * API's refusals from those of this listener. If the caller leaves, the request ends. If the API's
 * answer breaks off, so does the relayed one.
 */
export async function relayToApi(
  api: ApiPlace,
  request: ApiRequest,
  response: ServerResponse,
): Promise<void> {
  if (response.destroyed) return;
  const leaving = new AbortController();
  response.once('close', () => leaving.abort());
  const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(RELAY_TIME_MAX_MS)]);
  const answer = await askApi(api, request, signal);
  response.writeHead(answer.statusCode ?? 0, headersOf(answer));
  // Otherwise the head would wait for the first byte of the body.
  response.flushHeaders();
  // By then the head is sent, so a failure can only show as an answer that ends too early.
  await pipeline(answer, response, { signal }).catch(() => {});
}

/**
 * Neither the errors thrown here nor their causes contain the headers that were sent, since one of
 * them is a key.
 */
async function askApi(
  api: ApiPlace,
  { path, headers, body }: ApiRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { endpoint, trustedProxies } = api;
  const place =
    endpoint.kind === 'unix'
      ? { socketPath: endpoint.path }
      : { host: reachableHost(endpoint.host), port: endpoint.port };
  const asked = openRequest({
    ...{ ...place, method: 'POST', path, signal, agent: false },
    headers: {
      ...headers,
      ...(trustedProxies > 0 && { 'x-forwarded-for': forwardedBy(trustedProxies) }),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  });
  asked.end(body);
  try {
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    // The answer may break off before it is read.
    answer.on('error', () => {});
    return answer;
  } catch (cause) {
    throw signal.aborted
      ? new OpsProblem(504, 'api_too_slow', 'the API did not answer in time', { cause })
      : new OpsProblem(502, 'api_unreachable', 'the API of this node cannot be reached', { cause });
  }
}

/** Without these entries, the API would believe that the request bypassed its proxies. */
function forwardedBy(trustedProxies: number): string {
  return Array<string>(trustedProxies).fill('127.0.0.1').join(', ');
}

function headersOf(answer: IncomingMessage): OutgoingHttpHeaders {
  const kept = Object.entries(answer.headers).filter(([name]) => !CONNECTION_HEADERS.has(name));
  return { ...Object.fromEntries(kept), 'x-tollgate-answered-by': 'api' };
}
