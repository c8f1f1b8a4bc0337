import { batch, computed, signal } from '@preact/signals';
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
/**
 * Who is signed in, or whose page waits, as the node said last. It decides what to show; the node
 * checks each call.
 */
export const me = signal<Me | undefined>(token.peek() === undefined ? undefined : readMe());
/** The session has ended, and the page waits unseen until the same person signs in again. */
export const isWaiting = computed(() => token.value === undefined && me.value !== undefined);
/** Goes up when somebody else signs in, who gets a page of their own. */
export const pageNumber = signal(0);
/** Why the operator was signed out without asking for it. */
export const signOutReason = signal<string | undefined>(undefined);

export function keepToken(checked: string, owner: Me): void {
  sessionStorage.setItem(TOKEN_ITEM, checked);
  begin(checked, owner);
}

/** The browser has the cookie of a session. */
export function keepSession(owner: Me): void {
  begin(null, owner);
}

function begin(shown: string | null, owner: Me): void {
  batch(() => {
    const { id, name, role } = me.peek() ?? {};
    const isSame = id === owner.id && name === owner.name && role === owner.role;
    if (!isSame) pageNumber.value += 1;
    keepMe(owner);
    signOutReason.value = undefined;
    token.value = shown;
  });
}

export function keepMe(owner: Me): void {
  sessionStorage.setItem(ME_ITEM, JSON.stringify(owner));
  me.value = owner;
}

/** Drops the page with all that is on it. */
export function signOut(reason?: string): void {
  batch(() => {
    endSignIn(reason);
    me.value = undefined;
  });
}

/** Forgets the token, and keeps the page for who was signed in. */
export function endSignIn(reason?: string): void {
  sessionStorage.removeItem(TOKEN_ITEM);
  sessionStorage.removeItem(ME_ITEM);
  batch(() => {
    signOutReason.value = reason;
    token.value = undefined;
  });
}

/** Whether who is signed in may do what needs this role. */
export function mayAct(role: Me['role']): boolean {
  return me.value?.may.includes(role) ?? false;
}

/** A sign-in at the provider ends at the first page. This keeps the page that was meant. */
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
