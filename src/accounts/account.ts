import { decodeLimits, encodeLimits } from '../limits/encode-limits.ts';
import type { Limit } from '../limits/limit.ts';
import type { Texts } from './record-store.ts';

export const ACCOUNT_STATUSES = ['active', 'suspended'] as const;
type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

export interface Account {
  readonly id: string;
  readonly name: string;
  /** This plan may not be sold any more. */
  readonly plan: string;
  readonly status: string;
  /** Its own limits, in addition to those of its plan. */
  readonly limits: readonly Limit[];
  readonly balanceMicros: number;
  /** Below this, its balance is low. Undefined if the settings decide; 0 for never. */
  readonly lowMicros: number | undefined;
  /** What running requests may still cost. */
  readonly heldMicros: number;
  readonly createdMs: number;
  readonly version: number;
}

export interface AccountPatch {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly status?: AccountStatus | undefined;
  /** Its own limits, in addition to those of its plan. */
  readonly limits?: readonly Limit[] | undefined;
  /** Below this, its balance is low. Null if the settings decide. */
  readonly lowMicros?: number | null | undefined;
}

export const ACCOUNT_FIELDS = [
  'name',
  'plan',
  'status',
  'limits',
  'low',
  'balance',
  'held',
  'created',
  'version',
] as const;

export function decodeAccount(id: string, texts: Texts): Account {
  return {
    id,
    name: texts['name'] ?? '',
    plan: texts['plan'] ?? '',
    status: texts['status'] ?? '',
    limits: decodeLimits(texts['limits'] ?? ''),
    balanceMicros: Number(texts['balance'] ?? 0),
    lowMicros: texts['low'] ? Number(texts['low']) : undefined,
    heldMicros: Number(texts['held'] ?? 0),
    createdMs: Number(texts['created'] ?? 0),
    version: Number(texts['version'] ?? 0),
  };
}

/** The patch as fields of the record. */
export function encodePatch({ name, plan, status, limits, lowMicros }: AccountPatch): Texts {
  const texts: Record<string, string> = {};
  const low = lowMicros === undefined ? undefined : String(lowMicros ?? '');
  const fields = { name, plan, status, limits: limits && encodeLimits(limits), low };
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) texts[field] = value;
  }
  return texts;
}
