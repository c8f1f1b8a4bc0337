import { Secret } from '../lib/secret.ts';
import type { Config } from './config.ts';
import { maskSettings, showSettings } from './mask-settings.ts';

/** Bounds an entry of the audit log, so that it does not grow with the settings. */
export const CHANGES_MAX = 50;
export const VALUE_CHARS_MAX = 1_000;

export interface Difference {
  /** Such as `models[haiku].price.input`. */
  readonly path: string;
  /** Undefined if the setting is absent. */
  readonly before: unknown;
  readonly after: unknown;
}

/** The values by path. A value that only one side has is absent on the other. */
interface SettingsDiff {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

/**
 * Lists the differences between two configurations without secrets. For a changed secret, it says
 * only that the secret differs.
 */
export function diffSettings(before: Config, after: Config): SettingsDiff {
  return showDifferences([
    ...diffDocuments(maskSettings(before), maskSettings(after)),
    ...findOtherSecrets(listSecrets(before), listSecrets(after)),
  ]);
}

/** The values that differ. Items of lists are compared by their ids or names. */
export function diffDocuments(before: object, after: object): Difference[] {
  return findDifferences('', before, after);
}

/** Cuts a long list, and long values, for the audit log. */
export function showDifferences(all: readonly Difference[]): SettingsDiff {
  const shown = all.slice(0, CHANGES_MAX);
  const take = (side: 'before' | 'after') =>
    Object.fromEntries(
      shown
        .filter((difference) => difference[side] !== undefined)
        .map((difference) => [difference.path, cutValue(difference[side])]),
    );
  const left = all.length - shown.length;
  return {
    before: take('before'),
    after: { ...take('after'), ...(left > 0 && { further_changes: left }) },
  };
}

type Fields = Readonly<Record<string, unknown>>;

function findDifferences(path: string, before: unknown, after: unknown): Difference[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  if (old === undefined || now === undefined || Array.isArray(before) !== Array.isArray(after)) {
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    return isSame ? [] : [{ path, before, after }];
  }
  const names = new Set([...Object.keys(now), ...Object.keys(old)]);
  return [...names].flatMap((name) =>
    findDifferences(joinPath(path, name, after), old[name], now[name]),
  );
}

function joinPath(path: string, name: string, parent: unknown): string {
  const step = Array.isArray(parent) ? `[${name}]` : `.${name}`;
  return `${path}${step}`.replace(/^\./, '');
}

/**
 * The fields of a map, or of a list whose items have ids or names. Undefined if the value counts as
 * a whole.
 */
function fieldsOf(value: unknown): Fields | undefined {
  if (!Array.isArray(value)) {
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
  }
  const named = value.map((item: Fields): [unknown, Fields] => [item['id'] ?? item['name'], item]);
  const isNamed = named.every(([name]) => typeof name === 'string');
  return isNamed ? (Object.fromEntries(named) as Fields) : undefined;
}

/**
 * Every secret of the settings by its path, except those of `redis.url` and `books.url`, which
 * change with a restart only.
 */
function listSecrets(config: Config): ReadonlyMap<string, string> {
  return new Map(
    findSecrets(
      '',
      showSettings(config, (secret) => secret),
    ),
  );
}

function findSecrets(path: string, value: unknown): (readonly [string, string])[] {
  if (value instanceof Secret) return [[path, value.reveal()]];
  const fields = fieldsOf(value) ?? (Array.isArray(value) ? { ...value } : {});
  return Object.entries(fields).flatMap(([name, field]) =>
    findSecrets(joinPath(path, name, value), field),
  );
}

function findOtherSecrets(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Difference[] {
  return [...after].flatMap(([path, secret]) => {
    const old = before.get(path);
    if (old === undefined || old === secret) return [];
    return [{ path, before: 'a secret', after: 'another secret' }];
  });
}

function cutValue(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length <= VALUE_CHARS_MAX ? value : `${text.slice(0, VALUE_CHARS_MAX)}…`;
}
