const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const REFERENCE = new RegExp(`\\$\\{(${NAME})\\}`, 'g');

/*
 * YAML does not allow braces in a plain scalar inside `{…}`, yet `{admin_token: ${ADMIN_TOKEN}}` is
 * what people write. So the braces of each reference are private-use characters while YAML is read:
 * as many characters as before, so that every position stays, and plain text to the YAML reader.
 */
const OPEN = '\uE000';
const CLOSE = '\uE001';
const PROTECTED = new RegExp(`\\$${OPEN}(${NAME})${CLOSE}`, 'g');

export interface Substitution {
  readonly value: string;
  readonly unset: readonly string[];
  /** A `${` that begins no reference. */
  readonly isMalformed: boolean;
}

/** Every name that stands in the text as `${NAME}`. */
export function namedVariables(text: string): string[] {
  return [...text.matchAll(REFERENCE)].map(([, name = '']) => name);
}

export function protectReferences(text: string): string {
  return text.replaceAll(REFERENCE, `$$${OPEN}$1${CLOSE}`);
}

export function restoreReferences(text: string): string {
  return text.replaceAll(PROTECTED, '$${$1}');
}

/** Puts the values in place of the protected references; a value is never searched for references. */
export function substituteVariables(
  text: string,
  env: Readonly<Record<string, string>>,
): Substitution {
  const unset: string[] = [];
  const value = text.replaceAll(PROTECTED, (_reference, name: string) => {
    if (Object.hasOwn(env, name)) return env[name] ?? '';
    unset.push(name);
    return '';
  });
  return { value, unset, isMalformed: text.includes('${') };
}

/** In place of a whole value, a word of it, or the password of an address; elsewhere it is part of a secret. */
const BARE = new RegExp(`(?:^|\\s|//(?:[^/@:]*:)?)\\$${NAME}(?=\\s|@|$)`);

/** Whether something stands there as `$NAME`, which a shell would take for a variable, and settings do not. */
export function holdsBareVariable(text: string): boolean {
  return BARE.test(text);
}
