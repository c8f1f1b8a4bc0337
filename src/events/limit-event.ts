import { createHash } from 'node:crypto';
import { creditsOf } from '../lib/units/micros.ts';
import { decodeUnit, decodeWindow } from '../limits/encode-limits.ts';
import type { LimitUnit, LimitWindow } from '../limits/limit.ts';
import type { LimitEventType } from '../limits/limit-event-types.ts';
import { formatWindow } from '../limits/parse-window.ts';
import { LIMIT_LEVELS, type LimitLevel } from '../protocol/rates/limit-state.ts';

export const LIMIT_EVENT_SOURCES = ['limit', 'monthly_cap', 'balance', 'events'] as const;
type LimitEventSource = (typeof LIMIT_EVENT_SOURCES)[number];

/** What a limit or a balance has crossed, once in each window. */
export interface LimitEvent {
  /** Stays the same if the script that raised it is repeated, or replayed after a failover. */
  readonly id: string;
  readonly type: LimitEventType;
  /** By the clock of Redis. */
  readonly atMs: number;
  readonly accountId: string;
  /** The key whose request crossed it; empty for a payment. */
  readonly keyId: string;
  readonly level: LimitLevel;
  /** The id of the key, group or account; for an end user its template's, and its digest. */
  readonly subjectId: string;
  readonly source: LimitEventSource;
  /** Undefined for `events.left_out`. */
  readonly unit: LimitUnit | undefined;
  /** Undefined for a balance. */
  readonly window: LimitWindow | undefined;
  /** The limit, or the amount below which a balance is low. Credits are in micro-credits. */
  readonly amount: number;
  /** Used and held together; the balance. */
  readonly counted: number;
  readonly held: number;
}

const LEFT_OUT: LimitEventType = 'events.left_out';
const TYPES: Readonly<Record<string, LimitEventType>> = {
  w: 'limit.warning',
  r: 'limit.reached',
  l: 'balance.low',
  x: 'balance.exhausted',
  m: LEFT_OUT,
};
const CALENDAR: Readonly<Record<string, string>> = { '1': 'd', '2': 'w', '3': 'm' };
const FIELDS = 12;
const ID_CHARS = 32;

/** Reads a text as `quota/scripts/lua/events.lua` describes it. Undefined if it is no event. */
export function decodeEvent(text: string): LimitEvent | undefined {
  const parts = text.split('|');
  if (parts.length !== FIELDS) return undefined;
  const [kind = '', level = '', subjectId = '', letter = '', code = '', amount = ''] = parts;
  const [counted, held, accountId = '', keyId = '', period = '', at] = parts.slice(6);
  const type = TYPES[kind];
  const unit = decodeUnit(letter);
  const knownLevel = LIMIT_LEVELS.find((each) => each === (level === 'cap' ? 'key' : level));
  if (type === undefined || knownLevel === undefined) return undefined;
  if (unit === undefined && type !== LEFT_OUT) return undefined;
  const what = [kind, level, subjectId, letter, code, amount, period].join('|');
  return {
    id: `evt_${createHash('sha256').update(what).digest('hex').slice(0, ID_CHARS)}`,
    ...{ type, atMs: Number(at), accountId, keyId, level: knownLevel, subjectId },
    source: sourceOf(type, level, code),
    unit,
    window: code === '' ? undefined : decodeWindow(CALENDAR[code] ?? code),
    ...{ amount: Number(amount), counted: Number(counted), held: Number(held) },
  };
}

function sourceOf(type: LimitEventType, level: string, window: string): LimitEventSource {
  if (type === LEFT_OUT) return 'events';
  if (window === '') return 'balance';
  return level === 'cap' ? 'monthly_cap' : 'limit';
}

/** The form that the admin API, the events stream and webhooks use. */
export function showEvent(event: LimitEvent) {
  const show = (amount: number) => (event.unit === 'credits' ? creditsOf(amount) : amount);
  return {
    id: event.id,
    type: event.type,
    at: new Date(event.atMs).toISOString(),
    account: event.accountId,
    key: event.keyId === '' ? null : event.keyId,
    level: event.level,
    subject: event.subjectId,
    source: event.source,
    unit: event.unit ?? null,
    window: event.window === undefined ? null : formatWindow(event.window),
    amount: show(event.amount),
    counted: show(event.counted),
    held: show(event.held),
  };
}
