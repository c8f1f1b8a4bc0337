import { RedisUnavailable } from './redis-unavailable.ts';

/**
 * `outage`: Redis is away or refuses writes; counts against it, and the same call may be made again.
 * `retryable`: Redis is there, and the same call may succeed a little later.
 * `fault`: a mistake in our code or set-up, which repeats itself.
 */
export type RedisErrorKind = 'outage' | 'retryable' | 'fault';

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
 * OOM is here and not above: settling frees memory and must go on while admissions are refused. So are those
 * of wrong rights: an operator mends them, and until then nothing that is owed may be given up.
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

/** What the client says when no reply came. It has no codes for these, only texts. */
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
