const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const REFERENCE = new RegExp(`\\$\\{(${NAME})\\}`, 'g');

/*
 * YAML does not allow braces in a plain scalar inside `{…}`, yet people write `{admin_token:
 * ${ADMIN_TOKEN}}`. So private-use characters replace the braces of each reference while YAML is
 * read. The text keeps its length, so every position stays, and the YAML reader sees plain text.
 */
const OPEN = '\uE000';
const CLOSE = '\uE001';
const PROTECTED = new RegExp(`\\$${OPEN}(${NAME})${CLOSE}`, 'g');

interface Substitution {
  readonly value: string;
  readonly unset: readonly string[];
  /** Whether the text contains a `${` that begins no reference. */
  readonly isMalformed: boolean;
}

/** Every name that occurs in the text as `${NAME}`. */
export function namedVariables(text: string): string[] {
  return [...text.matchAll(REFERENCE)].map(([, name = '']) => name);
}

export function protectReferences(text: string): string {
  return text.replaceAll(REFERENCE, `$$${OPEN}$1${CLOSE}`);
}

export function restoreReferences(text: string): string {
  return text.replaceAll(PROTECTED, '$${$1}');
}

/**
 * Puts the values in place of the protected references. References inside a value are not
 * substituted.
 */
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

/**
 * Matches `$NAME` as a whole value, as a word of it, or as the password in an address. Elsewhere it
 * is part of a secret.
 */
const BARE = new RegExp(`(?:^|\\s|//(?:[^/@:]*:)?)\\$${NAME}(?=\\s|@|$)`);

/** Whether the text uses `$NAME`, which is a variable for a shell but not in settings. */
export function holdsBareVariable(text: string): boolean {
  return BARE.test(text);
}
