import { signal } from '@preact/signals';
import type { Me } from './api-types.ts';

const TOKEN_ITEM = 'tollgate-admin-token';
const ME_ITEM = 'tollgate-operator';
const PLACE_ITEM = 'tollgate-place';

/**
 * What each call shows: a token, kept for this browser session only, or null for the cookie of a
 * session, which scripts cannot read. Undefined while nobody is signed in.
 */
export const token = signal<string | null | undefined>(
  sessionStorage.getItem(TOKEN_ITEM) ?? undefined,
);
/** Who is signed in, as the node said last. It tells what to show; the node checks each call. */
export const me = signal<Me | undefined>(readMe());
/** Why the operator was signed out without asking for it. */
export const signOutReason = signal<string | undefined>(undefined);

export function keepToken(checked: string, owner: Me): void {
  sessionStorage.setItem(TOKEN_ITEM, checked);
  keepMe(owner);
  signOutReason.value = undefined;
  token.value = checked;
}

/** The browser has the cookie of a session. */
export function keepSession(owner: Me): void {
  keepMe(owner);
  signOutReason.value = undefined;
  token.value = null;
}

export function keepMe(owner: Me): void {
  sessionStorage.setItem(ME_ITEM, JSON.stringify(owner));
  me.value = owner;
}

export function signOut(reason?: string): void {
  sessionStorage.removeItem(TOKEN_ITEM);
  sessionStorage.removeItem(ME_ITEM);
  signOutReason.value = reason;
  token.value = undefined;
  me.value = undefined;
}

/** Whether who is signed in may do what needs this role. */
export function mayAct(role: Me['role']): boolean {
  return me.value?.may.includes(role) ?? false;
}

/** The way to the provider and back leads to the first page. This keeps the page that was meant. */
export function rememberPlace(): void {
  sessionStorage.setItem(PLACE_ITEM, location.hash);
}

export function returnToPlace(): void {
  const place = sessionStorage.getItem(PLACE_ITEM);
  sessionStorage.removeItem(PLACE_ITEM);
  if (place) location.hash = place;
}

function readMe(): Me | undefined {
  const text = sessionStorage.getItem(ME_ITEM);
  return text === null ? undefined : (JSON.parse(text) as Me);
}
