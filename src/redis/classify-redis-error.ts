import { RedisUnavailable } from './redis-unavailable.ts';

/**
 * `outage`: Redis is away or refuses writes. The breaker counts it, and the same call may be
 * repeated.
 *
 * `retryable`: Redis is there, and the same call may succeed a little later.
 *
 * `fault`: a mistake in our code or set-up, which repeats itself.
 */
type RedisErrorKind = 'outage' | 'retryable' | 'fault';

/** The first word of an error reply. */
const OUTAGE_REPLIES = new Set([
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'NOREPLICAS',
  'READONLY',
]);

/**
 * OOM is here and not above, because settling frees memory and must continue while admissions are
 * refused. Replies about missing rights are here too: until an operator corrects the rights, no
 * charge may be given up.
 */
const RETRYABLE_REPLIES = new Set([
  'ASK',
  'BUSY',
  'MOVED',
  'NOAUTH',
  'NOPERM',
  'NOSCRIPT',
  'OOM',
  'TRYAGAIN',
]);

/** Errors of the client when no reply came. They have no codes, only texts. */
const OUTAGE_TEXTS = [
  'Cluster is ended.',
  "Cluster isn't ready",
  'Command aborted due to connection close',
  'Command timed out',
  'Connection is closed.',
  'Failed to refresh slots cache.',
  'None of startup nodes is available',
  'Reached the max retries per request limit',
  'Socket timeout.',
  "Stream isn't writeable",
  'Too many Cluster redirections.',
];

const SOCKET_CODES = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

export function classifyRedisError(error: unknown): RedisErrorKind {
  if (error instanceof RedisUnavailable) return 'outage';
  if (!(error instanceof Error)) return 'fault';
  if ('syscall' in error && 'code' in error && SOCKET_CODES.has(String(error.code))) {
    return 'outage';
  }
  const firstWord = error.message.split(' ', 1)[0] ?? '';
  if (OUTAGE_REPLIES.has(firstWord)) return 'outage';
  if (RETRYABLE_REPLIES.has(firstWord)) return 'retryable';
  return OUTAGE_TEXTS.some((text) => error.message.startsWith(text)) ? 'outage' : 'fault';
}
