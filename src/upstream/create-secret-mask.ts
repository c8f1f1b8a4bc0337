import { LONG_SECRET_CHARS_MIN, maskSecrets } from '../lib/mask-secrets.ts';
import type { Secret } from '../lib/secret.ts';
import type { MaskText } from '../protocol/sse/mask-frame.ts';

/** Shorter values give nothing away. */
const SECRET_CHARS_MIN = 4;

interface Secrets {
  readonly apiKey: Secret | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, Secret>>;
}

/**
 * Masks the secrets that the upstream of these settings knows: its key, and the values of the
 * headers that it is sent. Only errors need this, and they are rare. So the secrets are revealed
 * for each text, and no other copy is kept.
 */
export function createSecretMask({ apiKey, headers }: Secrets): MaskText {
  return (text) => {
    const values = Object.entries(headers).flatMap(([name, value]) => [
      value.reveal(),
      ...partsOf(name, value.reveal()),
    ]);
    if (apiKey !== undefined) values.push(apiKey.reveal());
    return maskSecrets(text, values.filter(isSecret));
  };
}

/** The parts of a header that a server may repeat without the rest. */
function partsOf(name: string, value: string): string[] {
  const parts = value.split(/[\s,;=]+/).filter((part) => isLong(part) && isMixed(part));
  if (!name.endsWith('authorization')) return parts;
  const [, scheme = '', credentials = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [credentials, ...parts];
  const decoded = Buffer.from(credentials, 'base64').toString('latin1');
  return [credentials, decoded, decoded.slice(decoded.indexOf(':') + 1), ...parts];
}

/**
 * A short word or number, such as `ollama` or `1234567`, is not a secret and may stand in any text.
 */
function isSecret(value: string): boolean {
  return isLong(value) || (value.length >= SECRET_CHARS_MIN && isMixed(value));
}

const isLong = ({ length }: string) => length >= LONG_SECRET_CHARS_MIN;
const isMixed = (text: string) => /[A-Za-z]/.test(text) && /\d/.test(text);
