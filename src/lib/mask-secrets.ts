const MASK = '*****';

/** Shorter ones are masked only where they stand as words of their own: they may be a part of any other word. */
export const LONG_SECRET_CHARS_MIN = 8;
/** So much of the beginning of one is masked too: servers cut what they repeat. */
const BEGINNING_CHARS_MIN = 16;

/** One character as JSON, URLs and HTML write it, be it in a text that stands in another one. */
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
 * The text with a mask for each of the secrets, whichever way it is written there, and for the beginning of one
 * that the end of the text cuts off. For short texts: every place of it is looked at once for each secret.
 */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  let masked = '';
  let told = 0;
  for (let at = 0; at < text.length; ) {
    const end = findEnd(text, at, secrets);
    if (end === at) {
      at += 1;
      continue;
    }
    masked += text.slice(told, at) + MASK;
    at = end;
    told = end;
  }
  return told === 0 ? text : masked + text.slice(told);
}

/** Behind the longest secret that stands at this place; the place itself where there is none. */
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
  /** How many of its characters stand there. */
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

/** A backslash as JSON writes it; before an `x` or `u` it would else be read as an escape. */
function backslashesOf(count: number): typeof lengthAsItIs {
  const backslashes = '\\'.repeat(count);
  return (text, at, char) =>
    char === '\\' && text.startsWith(backslashes, at) ? count : lengthAsItIs(text, at, char);
}

/** Of what stands there for this character, rather as it is than escaped; 0 where it is another one. */
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
