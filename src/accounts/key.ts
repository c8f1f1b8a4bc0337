import {
  decodeKeyBounds,
  encodeKeyBounds,
  type KeyBounds,
  NO_KEY_BOUNDS,
} from '../limits/encode-key-bounds.ts';
import type { Limit } from '../limits/limit.ts';
import type { Texts } from './record-store.ts';

export interface Key extends KeyBounds {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly last4: string;
  readonly status: 'active' | 'revoked';
  readonly rpm: number | undefined;
  /** Ids and aliases; undefined for all models. */
  readonly models: readonly string[] | undefined;
  readonly capMicros: number | undefined;
  readonly inFlightMax: number | undefined;
  readonly expiresMs: number | undefined;
  /** Spent in the requested month. */
  readonly spentMicros: number;
  readonly heldMicros: number;
  readonly createdMs: number;
  readonly rotatedMs: number | undefined;
  readonly version: number;
}

/** `undefined` leaves a control as it is, `null` removes it. */
export interface KeyControls {
  readonly name?: string | null | undefined;
  readonly rpm?: number | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly capMicros?: number | null | undefined;
  readonly inFlightMax?: number | null | undefined;
  /** Empty for none. */
  readonly groupId?: string | undefined;
  readonly isUserRequired?: boolean | undefined;
  readonly limits?: readonly Limit[] | undefined;
  readonly userLimits?: readonly Limit[] | undefined;
  readonly expiresMs?: number | null | undefined;
}

const FIELDS = [
  'account',
  'name',
  'last4',
  'status',
  'rpm',
  'models',
  'cap',
  'in_flight_max',
  'limits',
  'expires',
  'created',
  'rotated',
  'version',
] as const;

/** The fields of the record, including those of one month, `yyyymm`. */
export function keyFields(month: string): readonly string[] {
  return [...FIELDS, `spent:${month}`, `held:${month}`];
}

export function decodeKey(id: string, texts: Texts, month: string): Key {
  const number = (field: string) => Number(texts[field] ?? 0);
  const numberIfAny = (field: string) => ((texts[field] ?? '') === '' ? undefined : number(field));
  const models = (texts['models'] ?? '').split(',').filter((name) => name !== '');
  return {
    id,
    accountId: texts['account'] ?? '',
    name: texts['name'] ?? '',
    last4: texts['last4'] ?? '',
    status: texts['status'] === 'active' ? 'active' : 'revoked',
    rpm: numberIfAny('rpm'),
    models: models.length === 0 ? undefined : models,
    capMicros: numberIfAny('cap'),
    inFlightMax: numberIfAny('in_flight_max'),
    ...decodeKeyBounds(texts['limits'] ?? ''),
    expiresMs: numberIfAny('expires'),
    spentMicros: number(`spent:${month}`),
    heldMicros: number(`held:${month}`),
    createdMs: number('created'),
    rotatedMs: numberIfAny('rotated'),
    version: number('version'),
  };
}

/**
 * The controls as fields of the record. An empty text deletes its field. `before` is what bounded
 * the key until now.
 */
export function encodeControls(controls: KeyControls, before: KeyBounds = NO_KEY_BOUNDS): Texts {
  const { name, rpm, models, capMicros, inFlightMax, expiresMs } = controls;
  const fields = {
    name,
    rpm,
    // The scripts look for a name between two commas.
    models: models && `,${models.join(',')},`,
    cap: capMicros,
    in_flight_max: inFlightMax,
    limits: encodeBounds(controls, before),
    expires: expiresMs,
  };
  const texts: Record<string, string> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) texts[field] = value === null ? '' : String(value);
  }
  return texts;
}

/** Undefined if none of it changes. */
function encodeBounds(controls: KeyControls, before: KeyBounds): string | undefined {
  const { groupId, isUserRequired, limits, userLimits } = controls;
  const changed = [groupId, isUserRequired, limits, userLimits];
  if (changed.every((each) => each === undefined)) return undefined;
  return encodeKeyBounds({
    groupId: groupId ?? before.groupId,
    isUserRequired: isUserRequired ?? before.isUserRequired,
    limits: limits ?? before.limits,
    userLimits: userLimits ?? before.userLimits,
  });
}
