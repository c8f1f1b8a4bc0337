const MASK = '*****';

/**
 * Shorter secrets are masked only as words of their own, since they may be a part of any other
 * word.
 */
export const LONG_SECRET_CHARS_MIN = 8;
/** The beginning of a secret is masked too, from this length on: servers cut what they repeat. */
const BEGINNING_CHARS_MIN = 16;

/** One character as JSON, URLs and HTML escape it, even if one of these is nested in another. */
const ESCAPED =
  /(?:\\{1,8}u00|\\{1,8}x|%)([0-9a-f]{2})|&#x0{0,4}([0-9a-f]{2});|&#0{0,4}(\d{2,3});|&(amp|lt|gt|quot|apos);|\\{1,8}([^\\])/iy;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/**
 * Masks each of the secrets in the text, however its characters are escaped, and also the beginning
 * of a secret that the end of the text cuts off. For short texts: it looks at each position once
 * for each secret.
 */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  let masked = '';
  let maskedTo = 0;
  for (let at = 0; at < text.length; ) {
    const end = findEnd(text, at, secrets);
    if (end === at) {
      at += 1;
      continue;
    }
    masked += text.slice(maskedTo, at) + MASK;
    at = end;
    maskedTo = end;
  }
  return maskedTo === 0 ? text : masked + text.slice(maskedTo);
}

/** The end of the longest secret at this position, or the position itself if there is none. */
function findEnd(text: string, at: number, secrets: readonly string[]): number {
  let longest = at;
  for (const secret of secrets) {
    const first = text[at];
    if (first !== secret[0] && !isEscape(first)) continue;
    for (const lengthOf of READINGS) {
      const spelt = spell(text, at, { secret, lengthOf });
      if (spelt.end > longest && isSecret(text, at, spelt)) longest = spelt.end;
    }
  }
  return longest;
}

interface SecretSpelling {
  readonly secret: string;
  /** How many characters of the secret are there. */
  readonly chars: number;
  readonly end: number;
}

function isSecret(text: string, at: number, { secret, chars, end }: SecretSpelling): boolean {
  if (secret.length < LONG_SECRET_CHARS_MIN) {
    return chars === secret.length && !isInWord(text[at - 1]) && !isInWord(text[end]);
  }
  if (chars === secret.length || chars >= BEGINNING_CHARS_MIN) return true;
  return end === text.length && chars >= LONG_SECRET_CHARS_MIN;
}

const isInWord = (char = ' ') => /[A-Za-z0-9]/.test(char);

function spell(
  text: string,
  at: number,
  { secret, lengthOf }: { readonly secret: string; readonly lengthOf: typeof lengthAsItIs },
): SecretSpelling {
  let end = at;
  let chars = 0;
  while (chars < secret.length && end < text.length) {
    const length = lengthOf(text, end, secret[chars]);
    if (length === 0) break;
    end += length;
    chars += 1;
  }
  return { secret, chars, end };
}

/** A backslash as JSON writes it; before an `x` or `u` it looks like the start of an escape. */
function backslashesOf(count: number): typeof lengthAsItIs {
  const backslashes = '\\'.repeat(count);
  return (text, at, char) =>
    char === '\\' && text.startsWith(backslashes, at) ? count : lengthAsItIs(text, at, char);
}

/**
 * How long the spelling of this character is here, preferably plain, else escaped. 0 if it is
 * another character.
 */
function lengthAsItIs(text: string, at: number, char: string | undefined): number {
  return text[at] === char ? 1 : escapeLength(text, at, char);
}

function lengthEscaped(text: string, at: number, char: string | undefined): number {
  return escapeLength(text, at, char) || (text[at] === char ? 1 : 0);
}

function escapeLength(text: string, at: number, char: string | undefined): number {
  if (!isEscape(text[at])) return 0;
  ESCAPED.lastIndex = at;
  const match = ESCAPED.exec(text);
  return match !== null && decode(match) === char ? match[0].length : 0;
}

/** `%25` may stand for a `%`, or for itself in a secret that has it; so may backslashes. */
const READINGS = [lengthAsItIs, lengthEscaped, backslashesOf(2), backslashesOf(4)];

const isEscape = (char: string | undefined) => char === '\\' || char === '%' || char === '&';

function decode([, hex, htmlHex, decimal, name, plain]: RegExpExecArray): string | undefined {
  const code = hex ?? htmlHex;
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  if (decimal !== undefined) return String.fromCharCode(Number(decimal));
  return name === undefined ? plain : NAMED[name.toLowerCase()];
}
