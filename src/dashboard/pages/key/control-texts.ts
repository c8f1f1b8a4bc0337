import type { Key, KeyControls } from '../../api/api-types.ts';
import { readLimitTexts, showLimitLines } from '../../limit-texts.ts';
import { parseNumber } from '../../parse-number.ts';
import { toLocalTime } from '../../to-local-time.ts';

/** The controls of a key as typed; an empty text means no limit. */
export interface ControlTexts {
  readonly name: string;
  readonly rpm: string;
  readonly models: string;
  readonly monthly_cap: string;
  readonly concurrency: string;
  /** The id of the group; empty for none. */
  readonly group: string;
  /** Such as `tokens=400000/1m`, one on each line. */
  readonly limits: string;
  readonly user_limits: string;
  readonly require_user: 'yes' | 'no';
  /** In the browser's time zone, to the minute: `2027-01-31T12:00`. */
  readonly expires_at: string;
}

export type ControlName = keyof ControlTexts;

export const NO_CONTROLS: ControlTexts = {
  name: '',
  rpm: '',
  models: '',
  monthly_cap: '',
  concurrency: '',
  group: '',
  limits: '',
  user_limits: '',
  require_user: 'no',
  expires_at: '',
};

export function showControls(key: Key): ControlTexts {
  const showNumber = (value: number | null) => (value === null ? '' : String(value));
  return {
    name: key.name,
    rpm: showNumber(key.rpm),
    models: key.models?.join(', ') ?? '',
    monthly_cap: showNumber(key.monthly_cap),
    concurrency: showNumber(key.concurrency),
    group: key.group ?? '',
    limits: showLimitLines(key.limits),
    user_limits: showLimitLines(key.user_limits),
    require_user: key.require_user ? 'yes' : 'no',
    expires_at: key.expires_at === null ? '' : toLocalTime(key.expires_at),
  };
}

/**
 * Returns only the changed controls; an emptied control is removed. Throws a problem of the first
 * field that is not a number.
 */
export function readControls(before: ControlTexts, now: ControlTexts): KeyControls {
  const read: { readonly [Name in ControlName]: () => KeyControls[Name] } = {
    name: () => now.name.trim() || null,
    rpm: () => parseNumber(now.rpm, 'rpm') ?? null,
    models: () => readModels(now.models),
    monthly_cap: () => parseNumber(now.monthly_cap, 'monthly_cap') ?? null,
    concurrency: () => parseNumber(now.concurrency, 'concurrency') ?? null,
    group: () => now.group || null,
    limits: () => readLimitTexts(now.limits, 'limits'),
    user_limits: () => readLimitTexts(now.user_limits, 'user_limits'),
    require_user: () => now.require_user === 'yes',
    expires_at: () => (now.expires_at === '' ? null : new Date(now.expires_at).toISOString()),
  };
  const names = Object.keys(read) as ControlName[];
  const changed = names.filter((name) => now[name] !== before[name]);
  return Object.fromEntries(changed.map((name) => [name, read[name]()]));
}

function readModels(text: string): readonly string[] | null {
  const models = text
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '');
  return models.length === 0 ? null : models;
}
