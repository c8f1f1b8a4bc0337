import type { HeaderSource } from './format.ts';

/** Where a request may name its end user: a header, or a field of the body by its path. */
export type EndUserSource =
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'field'; readonly path: readonly string[] };

export const END_USER_CHARS_MAX = 512;
const FIELDS = ['metadata.user_id', 'safety_identifier', 'user'];

/** Undefined for a text that names no source, such as `header:` or `messages`. */
export function parseEndUserSource(text: string): EndUserSource | undefined {
  const [, name] = /^header:([!#$%&'*+.^_`|~0-9a-z-]{1,128})$/.exec(text) ?? [];
  if (name !== undefined) return { kind: 'header', name };
  return FIELDS.includes(text) ? { kind: 'field', path: text.split('.') } : undefined;
}

export function formatEndUserSource(source: EndUserSource): string {
  return source.kind === 'header' ? `header:${source.name}` : source.path.join('.');
}

/** The name in the first source that has one. Empty if there is none, or if it is not a text. */
export function findEndUser(
  sources: readonly EndUserSource[],
  header: HeaderSource,
  body: unknown,
): string {
  for (const source of sources) {
    const value = source.kind === 'header' ? header(source.name) : readField(body, source.path);
    const name = typeof value === 'string' ? unifyEndUser(value) : '';
    if (name !== '') return name;
  }
  return '';
}

/** The form in which a name counts, whether a request or an operator wrote it. */
export function unifyEndUser(written: string): string {
  return withoutSession(written.trim()).slice(0, END_USER_CHARS_MAX).normalize('NFC');
}

/**
 * Coding agents name a session beside their user, in JSON or after `_session_`. A user who begins
 * a new session is still the same.
 */
function withoutSession(name: string): string {
  if (name.length > END_USER_CHARS_MAX) return name;
  if (name.startsWith('{')) return withoutSessionId(name);
  return name.replace(/^(user_.+)_session_[0-9a-f-]{36}$/, '$1');
}

function withoutSessionId(name: string): string {
  try {
    const { session_id: session, ...others } = JSON.parse(name) as Record<string, unknown>;
    const isNamed = session !== undefined && Object.keys(others).length > 0;
    return isNamed ? JSON.stringify(others) : name;
  } catch {
    return name;
  }
}

function readField(body: unknown, path: readonly string[]): unknown {
  let value = body;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}
