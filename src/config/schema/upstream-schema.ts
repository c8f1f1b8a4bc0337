import { z } from 'zod';
import { ANY_NAME } from '../../lib/name-pattern.ts';
import { Secret } from '../../lib/secret.ts';
import { UPSTREAM_KINDS } from '../../protocol/format-names.ts';
import { OPTIONAL_FEATURES } from '../../protocol/upstream-call.ts';
import { hasCredentials } from '../has-credentials.ts';
import { parseUpstreamUrl } from '../parse-upstream-url.ts';
import {
  duration,
  expected,
  filePath,
  listOf,
  name,
  namedText,
  numberFrom,
  parsableText,
  prices,
  secret,
  settingsMap,
  wholeNumber,
} from './schema-parts.ts';

const SEED_MAX = 2 ** 32 - 1;
const TOKENS_PER_SECOND_MAX = 1_000_000;
const CONCURRENCY_MAX = 100_000;
/** Each probe is a request. More frequent ones would show nothing more. */
const PROBE_INTERVAL_MIN_MS = 100;

const vendorName = namedText(
  'a name of at most 256 visible characters',
  /^[^\s\p{Cc}\p{Cs}]{1,256}$/u,
);

// Spaces inside are common (`Bearer …`). Spaces at the ends would be lost on the way.
const headerValue = namedText(
  'text of 1 to 4096 printable ASCII characters, without spaces at its ends',
  /^(?! )[\x20-\x7e]{1,4096}(?<! )$/,
).transform((value) => new Secret(value));

const features = listOf(
  z.enum(OPTIONAL_FEATURES, { error: expected(`one of ${OPTIONAL_FEATURES.join(', ')}`) }),
  `of ${OPTIONAL_FEATURES.join(', ')}`,
  0,
  OPTIONAL_FEATURES.length,
);

/** One of these words for all models of an upstream, or a map of the ids of models to them. */
function wordByModel<const Word extends string>(words: readonly Word[]) {
  const what = `one of ${words.join(', ')}`;
  const word = z.enum(words, { error: expected(what) });
  return z
    .union([word, z.record(z.string(), z.unknown())], {
      error: expected(`${what}, or a map of model ids to them`),
    })
    .transform((value) => (typeof value === 'string' ? { [ANY_NAME]: value } : value))
    .pipe(z.record(z.string(), word))
    .prefault({});
}

/** The same for lists. A mistake in a list is named by its place there. */
const featuresByModel = z
  .union([z.array(z.unknown()), z.record(z.string(), z.unknown())], {
    error: expected('a list, or a map of model ids to lists'),
  })
  .transform((value, context) => {
    const isList = Array.isArray(value);
    const parsed = z.record(z.string(), features).safeParse(isList ? { [ANY_NAME]: value } : value);
    if (parsed.success) return parsed.data;
    for (const { message, path } of parsed.error.issues) {
      context.addIssue({ code: 'custom', message, path: isList ? path.slice(1) : path });
    }
    return z.NEVER;
  })
  .prefault({});

export const upstream = settingsMap({
  name,
  kind: z.enum(UPSTREAM_KINDS, { error: expected(`one of ${UPSTREAM_KINDS.join(', ')}`) }),
  url: parsableText('a URL that begins with http:// or https://', parseUpstreamUrl).optional(),
  api_key: secret.optional(),
  model_names: z
    .record(z.string(), vendorName, { error: expected('a map of model ids to names') })
    .prefault({}),
  cost: z
    .record(z.string(), prices, { error: expected('a map of model ids to prices') })
    .prefault({}),
  output_limit_field: wordByModel(['max_completion_tokens', 'max_tokens']),
  accepts: featuresByModel,
  sampling: wordByModel(['pass', 'drop']),
  headers: z
    .record(z.string(), headerValue, { error: expected('a map of header names to values') })
    .prefault({}),
  tls: settingsMap({
    ca_file: filePath.optional(),
    server_name: namedText(
      'the name of a host',
      /^(?=.{1,253}$)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*$/,
    ).optional(),
  }).optional(),
  probe: settingsMap({
    path: namedText(
      'a path that begins with /, at most 2048 visible ASCII characters',
      /^\/[\x21-\x7e]{0,2047}$/,
    )
      .refine((path) => !hasCredentials(new URLSearchParams(path.replace(/^[^?]*/, ''))), {
        error: 'must not contain credentials: put them in api_key or headers',
      })
      .optional(),
    interval: duration(PROBE_INTERVAL_MIN_MS).prefault('5s'),
    timeout: duration(1).prefault('2s'),
  }).optional(),
  unknown_fields: z
    .enum(['pass', 'drop', 'refuse'], { error: expected('one of pass, drop, refuse') })
    .prefault('pass'),
  max_concurrency: wholeNumber(1, CONCURRENCY_MAX).prefault(512),
  timeouts: settingsMap({
    connect: duration(1).prefault('2s'),
    first_byte: duration(1).prefault('60s'),
    idle: duration(1).prefault('60s'),
    total: duration(1).prefault('10m'),
  }).prefault({}),
  simulated: settingsMap({
    seed: wholeNumber(0, SEED_MAX).prefault(1),
    latency: duration(0).prefault('200ms'),
    tokens_per_second: numberFrom(0, TOKENS_PER_SECOND_MAX).prefault(80),
    error_rate: numberFrom(0, 1).prefault(0),
  }).prefault({}),
});
