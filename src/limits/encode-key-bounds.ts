import { decodeLimits, encodeLimits } from './encode-limits.ts';
import type { Limit } from './limit.ts';

/** What bounds a key or a group. */
export interface KeyBounds {
  /** Empty for none. */
  readonly groupId: string;
  /** Whether each request must name its end user. */
  readonly isUserRequired: boolean;
  readonly limits: readonly Limit[];
  /** For each end user. */
  readonly userLimits: readonly Limit[];
}

export const NO_KEY_BOUNDS: KeyBounds = {
  groupId: '',
  isUserRequired: false,
  limits: [],
  userLimits: [],
};

/** In the form that the scripts read; empty if nothing bounds. */
export function encodeKeyBounds({
  groupId,
  isUserRequired,
  limits,
  userLimits,
}: KeyBounds): string {
  const parts = [
    groupId,
    isUserRequired ? '1' : '',
    encodeLimits(limits),
    encodeLimits(userLimits),
  ];
  return parts.every((part) => part === '') ? '' : parts.join('|');
}

export function decodeKeyBounds(text: string): KeyBounds {
  const [groupId = '', required = '', limits = '', userLimits = ''] = text.split('|');
  return {
    groupId,
    isUserRequired: required === '1',
    limits: decodeLimits(limits),
    userLimits: decodeLimits(userLimits),
  };
}
