import { Agent as HttpAgent, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Secret } from '../../lib/secret.ts';
import {
  type Address,
  ForbiddenTargetError,
  findAddresses,
  type Network,
  type Resolve,
} from './find-addresses.ts';
import { signWebhook } from './sign-webhook.ts';

/** Covers everything from the look-up of the host to the head of the answer. */
export const POST_MAX_MS = 10_000;
const HEAD_BYTES_MAX = 16 * 1024;
const REASON_CHARS_MAX = 200;

export interface Webhook {
  readonly name: string;
  readonly url: string;
  readonly secrets: readonly Secret[];
  readonly events: readonly string[];
}

/** Where webhooks may go. */
export interface WebhookRules {
  readonly hosts: readonly string[];
  readonly privateNetworks: readonly Network[];
}

export interface WebhookMessage {
  readonly id: string;
  /** JSON. */
  readonly body: string;
}

/** What became of one attempt. A status of 200 to 299 means that the receiver has the message. */
export type PostEnd =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly status: number | undefined };

interface PostOptions {
  readonly rules: WebhookRules;
  readonly nowMs: number;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  readonly resolve: Resolve;
  readonly timeoutMs?: number;
}

/**
 * Posts a signed message once. It follows no redirects, reads no body, and connects only to an
 * address that was checked, whatever the name says a moment later. Undefined if the signal ended
 * it: then nobody knows the outcome.
 */
export async function postWebhook(
  webhook: Webhook,
  message: WebhookMessage,
  options: PostOptions,
): Promise<PostEnd | undefined> {
  const { rules, timeoutMs = POST_MAX_MS, resolve } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([deadline, options.signal]);
  try {
    const url = new URL(webhook.url);
    if (!rules.hosts.includes(url.hostname)) {
      throw new ForbiddenTargetError(`webhooks.hosts does not name ${url.hostname}`);
    }
    const addresses = await beforeEnd(findAddresses(url, rules.privateNetworks, resolve), signal);
    const status = await send(url, { webhook, message, addresses, signal, options });
    if (status >= 200 && status <= 299) return { kind: 'delivered', status };
    const isRedirect = status >= 300 && status <= 399;
    const more = isRedirect ? ', and redirects are not followed' : '';
    return { kind: 'failed', status, reason: `the receiver answered with status ${status}${more}` };
  } catch (error) {
    if (options.signal.aborted) return undefined;
    const reason = deadline.aborted
      ? `no answer within ${timeoutMs / 1_000} s`
      : reasonOf(error).slice(0, REASON_CHARS_MAX);
    return { kind: 'failed', status: undefined, reason };
  }
}

interface SendParts {
  readonly webhook: Webhook;
  readonly message: WebhookMessage;
  readonly addresses: readonly Address[];
  readonly signal: AbortSignal;
  readonly options: Pick<PostOptions, 'nowMs' | 'userAgent'>;
}

/** Returns the status. */
function send(url: URL, { webhook, message, addresses, signal, options }: SendParts) {
  const { body } = message;
  const atS = Math.floor(options.nowMs / 1_000);
  const isTls = url.protocol === 'https:';
  // Not the agent of the process, which may be set up to use a proxy. Certificates are checked
  // even if the environment says otherwise.
  const agent = isTls ? new HttpsAgent({ rejectUnauthorized: true }) : new HttpAgent();
  const order: RequestOptions = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': options.userAgent,
      connection: 'close',
      ...signWebhook({ id: message.id, atS, body }, webhook.secrets),
    },
    lookup: lookUpAmong(addresses),
    maxHeaderSize: HEAD_BYTES_MAX,
    agent,
    signal,
  };
  return new Promise<number>((resolve, reject) => {
    const request = (isTls ? requestHttps : requestHttp)(url, order);
    request.on('error', reject);
    request.once('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.on('error', () => {});
      response.destroy();
    });
    // Without a listener neither an answer nor an error would come.
    request.once('upgrade', (response, socket) => {
      resolve(response.statusCode ?? 0);
      socket.destroy();
    });
    request.end(body);
  }).finally(() => agent.destroy());
}

/** Answers with addresses that were checked, whatever is asked. */
function lookUpAmong(addresses: readonly Address[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

function beforeEnd<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const end = () => reject(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
