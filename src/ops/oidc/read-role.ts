import { ROLES, type Role } from '../../lib/role.ts';

type Claims = Readonly<Record<string, unknown>>;

const NAME_CHARS_MAX = 100;
const SUBJECT_CHARS_MAX = 255;

/** The values of a claim. Undefined if there is no such claim. */
export function readClaim(claims: Claims, path: string): readonly string[] | undefined {
  const value = Object.hasOwn(claims, path) ? claims[path] : readNested(claims, path.split('.'));
  if (value === undefined || value === null) return undefined;
  const values = Array.isArray(value) ? value : [value];
  return values.filter((each) => typeof each === 'string');
}

/** The highest role that one of the values gives. Undefined if none does. */
export function roleOf(
  values: readonly string[],
  roles: Readonly<Record<string, Role>>,
): Role | undefined {
  const given = values.filter((value) => Object.hasOwn(roles, value)).map((value) => roles[value]);
  return ROLES.findLast((role) => given.includes(role));
}

/** A name that people know, in a form that logs and pages can show. */
export function readName(claims: Claims, subject: string): string {
  const names = ['name', 'preferred_username', 'email'].map((claim) => claims[claim]);
  const name = names.find((each) => typeof each === 'string' && each.trim() !== '');
  return clean(String(name ?? subject)).slice(0, NAME_CHARS_MAX);
}

export function readSubject(subject: string): string {
  return clean(subject).slice(0, SUBJECT_CHARS_MAX);
}

function readNested(claims: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (at, step) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, step)
        ? (at as Claims)[step]
        : undefined,
    claims,
  );
}

function clean(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '').trim();
}
