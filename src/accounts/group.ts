import { decodeKeyBounds, encodeKeyBounds, type KeyBounds } from '../limits/encode-key-bounds.ts';
import type { Texts } from './record-store.ts';

/** A project or a team of an account. Its limits apply to all of its keys together. */
export interface Group extends Omit<KeyBounds, 'groupId'> {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly createdMs: number;
  readonly version: number;
}

/** `undefined` leaves a control as it is. */
export type GroupControls = {
  readonly [Control in 'name' | 'isUserRequired' | 'limits' | 'userLimits']?:
    | Group[Control]
    | undefined;
};

export const GROUP_FIELDS = ['account', 'name', 'limits', 'created', 'version'] as const;

export function decodeGroup(id: string, texts: Texts): Group {
  const { groupId: _, ...bounds } = decodeKeyBounds(texts['limits'] ?? '');
  return {
    id,
    accountId: texts['account'] ?? '',
    name: texts['name'] ?? '',
    ...bounds,
    createdMs: Number(texts['created'] ?? 0),
    version: Number(texts['version'] ?? 0),
  };
}

/** The controls as fields of the record. An empty text deletes its field. */
export function encodeGroupControls(
  { name, isUserRequired, limits, userLimits }: GroupControls,
  before: Omit<KeyBounds, 'groupId'>,
): Texts {
  const bounds = encodeKeyBounds({
    groupId: '',
    isUserRequired: isUserRequired ?? before.isUserRequired,
    limits: limits ?? before.limits,
    userLimits: userLimits ?? before.userLimits,
  });
  return { ...(name !== undefined && { name }), limits: bounds };
}
