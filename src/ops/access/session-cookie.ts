import type { IncomingHttpHeaders } from 'node:http';

/** Browsers take a name with this prefix over HTTPS only, and from the host itself only. */
const SECURE_PREFIX = '__Host-';
const SESSION = 'tollgate-session';
const SIGN_IN = 'tollgate-sign-in';

/** A cookie of the dashboard: what a browser sends, and the lines that set and end it. */
interface Cookie {
  read(headers: IncomingHttpHeaders): string | undefined;
  set(value: string, lifeMs: number): string;
  readonly end: string;
}

/** `isSecure` means that browsers reach the dashboard over HTTPS. */
export function createCookies(isSecure: boolean): Readonly<Record<'session' | 'signIn', Cookie>> {
  return { session: createCookie(SESSION, isSecure), signIn: createCookie(SIGN_IN, isSecure) };
}

function createCookie(plainName: string, isSecure: boolean): Cookie {
  const name = isSecure ? `${SECURE_PREFIX}${plainName}` : plainName;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const set = (value: string, lifeMs: number) =>
    `${name}=${value}; ${attributes}; Max-Age=${Math.floor(lifeMs / 1_000)}`;
  return {
    set,
    end: set('', 0),
    read: ({ cookie }) =>
      (cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(`${name}=`))
        ?.slice(name.length + 1),
  };
}
