import { LONG_SECRET_CHARS_MIN, maskSecrets } from '../lib/mask-secrets.ts';
import type { Secret } from '../lib/secret.ts';
import type { MaskText } from '../protocol/sse/mask-frame.ts';

/** Nobody would guess anything from less. */
const SECRET_CHARS_MIN = 4;

interface Secrets {
  readonly apiKey: Secret | undefined;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, Secret>>;
}

/**
 * Masks what the upstream of these settings knows of us and nobody else may: its key, and the values of the
 * headers that it is sent. Only for errors, which are rare: the secrets are laid open for each text again, so that
 * no other copy is kept.
 */
export function createSecretMask({ apiKey, headers }: Secrets): MaskText {
  return (text) => {
    const values = Object.entries(headers).flatMap(([name, value]) => [
      value.reveal(),
      ...partsOf(name, value.reveal()),
    ]);
    if (apiKey !== undefined) values.push(apiKey.reveal());
    return maskSecrets(text, values.filter(isTelling));
  };
}

/** What of a header a server may repeat without the rest. */
function partsOf(name: string, value: string): string[] {
  const parts = value.split(/[\s,;=]+/).filter((part) => isLong(part) && isMixed(part));
  if (!name.endsWith('authorization')) return parts;
  const [, scheme = '', credentials = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [credentials, ...parts];
  const decoded = Buffer.from(credentials, 'base64').toString('latin1');
  return [credentials, decoded, decoded.slice(decoded.indexOf(':') + 1), ...parts];
}

/** A short word or number, such as `ollama` or `1234567`, is no secret, and may stand in any text. */
function isTelling(value: string): boolean {
  return isLong(value) || (value.length >= SECRET_CHARS_MIN && isMixed(value));
}

const isLong = ({ length }: string) => length >= LONG_SECRET_CHARS_MIN;
const isMixed = (text: string) => /[A-Za-z]/.test(text) && /\d/.test(text);
