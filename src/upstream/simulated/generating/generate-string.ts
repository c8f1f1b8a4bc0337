import { pickInteger, pickOne, type Random } from '../random.ts';
import { generateMatch } from './generate-match.ts';
import type { SchemaFields } from './merge-schemas.ts';

const STRING_CHARS_MAX = 100_000;

const WORDS = [
  'amber',
  'birch',
  'cedar',
  'delta',
  'ember',
  'fjord',
  'grove',
  'harbor',
  'island',
  'juniper',
  'lagoon',
  'meadow',
  'north',
  'orchid',
  'pebble',
  'quartz',
  'river',
  'summit',
  'tundra',
  'willow',
] as const;

const digits = (count: number, random: Random) =>
  Array.from({ length: count }, () => pickInteger(0, 9, random)).join('');
const hex = (count: number, random: Random) =>
  Array.from({ length: count }, () => pickInteger(0, 15, random).toString(16)).join('');
const two = (min: number, max: number, random: Random) =>
  String(pickInteger(min, max, random)).padStart(2, '0');
const date = (random: Random) =>
  `20${two(20, 29, random)}-${two(1, 12, random)}-${two(1, 28, random)}`;
const time = (random: Random) =>
  `${two(0, 23, random)}:${two(0, 59, random)}:${two(0, 59, random)}Z`;
const url = (random: Random) => `https://example.com/${pickWord(random)}`;

const FORMATS = new Map<unknown, (random: Random) => string>([
  ['date-time', (random) => `${date(random)}T${time(random)}`],
  ['date', date],
  ['time', time],
  ['duration', (random) => `PT${pickInteger(1, 59, random)}M`],
  ['email', (random) => `${pickWord(random)}@example.com`],
  ['idn-email', (random) => `${pickWord(random)}@example.com`],
  ['hostname', (random) => `${pickWord(random)}.example.com`],
  ['idn-hostname', (random) => `${pickWord(random)}.example.com`],
  ['uri', url],
  ['uri-reference', url],
  ['url', url],
  ['iri', url],
  ['ipv4', (random) => `192.0.2.${pickInteger(1, 254, random)}`],
  ['ipv6', (random) => `2001:db8::${hex(4, random)}`],
  [
    'uuid',
    (random) =>
      `${hex(8, random)}-${hex(4, random)}-4${hex(3, random)}-a${hex(3, random)}-${hex(12, random)}`,
  ],
  ['phone', (random) => `+1555${digits(7, random)}`],
]);

/**
 * A word, or a text that fits the format or the pattern of the schema. These two win over bounds of
 * length.
 */
export function generateString(flat: SchemaFields, random: Random): string {
  const format = FORMATS.get(flat['format']);
  if (format !== undefined) return format(random);
  const pattern = flat['pattern'];
  const match = typeof pattern === 'string' ? generateMatch(pattern, random) : undefined;
  return match ?? fitLength(flat, random);
}

export function pickWord(random: Random): string {
  return pickOne(WORDS, random);
}

function fitLength(flat: SchemaFields, random: Random): string {
  const charsMin = Math.min(Number(flat['minLength'] ?? 0), STRING_CHARS_MAX);
  const charsMax = Number(flat['maxLength'] ?? STRING_CHARS_MAX);
  let text = pickWord(random);
  while (text.length < charsMin) text += ` ${pickWord(random)}`;
  return text.slice(0, Math.max(charsMin, Math.min(text.length, charsMax)));
}
