import { STREAM_ABORT_REASONS } from '../gateway/request-record.ts';
import { ROUTE_NAMES } from '../protocol/format-names.ts';
import { REFUSALS } from '../protocol/refusals.ts';
import { TRY_RESULTS } from '../protocol/try.ts';
import { KEEP_OUTCOMES } from '../quota/scripts/kept/keep.ts';

/** The values of labels that the program itself knows. */

export { LIMIT_EVENT_TYPES as LIMIT_EVENTS } from '../limits/limit-event-types.ts';
export { LIMIT_LEVELS } from '../protocol/rates/limit-state.ts';
export const ROUTES = ROUTE_NAMES;

/** `none`: the client left before there was an answer. */
export const STATUSES: readonly string[] = [
  '200',
  ...new Set(
    Object.values(REFUSALS).flatMap((kind) =>
      'chatStatus' in kind ? [`${kind.status}`, `${kind.chatStatus}`] : [`${kind.status}`],
    ),
  ),
  'none',
];

export const OUTCOMES = ['complete', 'failed', 'left', 'undelivered', 'refused'] as const;
export const REFUSAL_NAMES: readonly string[] = Object.keys(REFUSALS);
/** For a request that ended before its model was found. */
export const UNKNOWN_MODEL = 'unknown';
export const TOKEN_KINDS = [
  'input',
  'output',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'thinking',
] as const;
export { STREAM_ABORT_REASONS };

/** What the store said; `insured` and `unavailable` if it could not be asked. */
export const ADMISSION_OUTCOMES = [
  'admitted',
  'unknown',
  'revoked',
  'expired',
  'suspended',
  'model',
  'finished',
  'rate',
  'in_flight',
  'cap',
  'balance',
  'limit',
  'too_large',
  'user_missing',
  'users_full',
  'insured',
  'unavailable',
] as const;
/**
 * People have to check `too_old`, `fault` and `dropped`. `dropped`: a worker had no room, no time
 * or no primary.
 */
export const SETTLE_KINDS = [
  'charge',
  'release',
  'late',
  'orphan',
  'repeated',
  'too_old',
  'fault',
  'dropped',
] as const;
/** What became of answers that clients wanted to be kept. `unavailable`: Redis did not answer. */
export const KEPT_OUTCOMES = [...KEEP_OUTCOMES, 'unavailable'] as const;
export const CHANGE_SUBJECTS = ['key', 'account'] as const;

export { TRY_RESULTS };
export const UPSTREAM_STATES = ['closed', 'paused', 'half-open', 'open', 'down'] as const;

/**
 * `admit` is for settlements and whatever clients wait for, but for `answers`, which are kept;
 * `worker` for all else that a worker asks.
 */
export const REDIS_CONNECTIONS = [
  'admit',
  'answers',
  'worker',
  'primary',
  'accounts',
  'fleet',
] as const;
export const REDIS_ERROR_KINDS = ['outage', 'retryable', 'fault'] as const;
/** `too_low`: all clients of a proxy count as one. `too_high`: clients can invent addresses. */
export const PROXY_DOUBTS = ['too_low', 'too_high'] as const;
/** How somebody who called the admin API showed who they are. */
export const CALLERS = ['admin_token', 'operator_token', 'session', 'nobody'] as const;
export const CALL_OUTCOMES = ['allowed', 'unauthorized', 'forbidden', 'unavailable'] as const;
/** Sign-ins to the dashboard with an account at the OpenID provider. */
export const SIGN_INS = ['begun', 'done', 'refused', 'failed'] as const;
/**
 * `failed` ones are tried again, `dropped` ones were tried for a day, `lost` ones had left the list
 * before.
 */
export const WEBHOOK_RESULTS = ['delivered', 'failed', 'dropped', 'lost'] as const;
export const PROCESSES = ['primary', 'worker'] as const;
export const MEMORY_KINDS = ['rss', 'heap_used', 'heap_total', 'external'] as const;
export const RELOAD_RESULTS = ['ok', 'refused'] as const;
export const NODE_STATES = ['up', 'draining', 'gone'] as const;
export const VERSIONED = ['config', 'catalogue', 'version'] as const;
