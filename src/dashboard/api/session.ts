import { signal } from '@preact/signals';

const TOKEN_ITEM = 'tollgate-admin-token';

/** Kept for this browser session only; undefined while nobody is signed in. */
export const token = signal<string | undefined>(sessionStorage.getItem(TOKEN_ITEM) ?? undefined);
/** Why the operator was signed out without asking for it. */
export const signOutReason = signal<string | undefined>(undefined);

export function keepToken(checked: string): void {
  sessionStorage.setItem(TOKEN_ITEM, checked);
  signOutReason.value = undefined;
  token.value = checked;
}

export function signOut(reason?: string): void {
  sessionStorage.removeItem(TOKEN_ITEM);
  signOutReason.value = reason;
  token.value = undefined;
}
