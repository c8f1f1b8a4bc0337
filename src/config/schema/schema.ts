import { z } from 'zod';
import { parseEndpoint } from '../../lib/address/parse-endpoint.ts';
import { parseRedisUrl } from '../../lib/address/parse-redis-url.ts';
import { Secret } from '../../lib/secret.ts';
import { parseByteSize } from '../../lib/units/parse-byte-size.ts';
import { parseEndUserSource } from '../../protocol/find-end-user.ts';
import {
  DEFAULT_DATA_DIR,
  DEFAULT_END_USER_SOURCES,
  DEFAULT_IMAGE_TOKENS,
  DEFAULT_LISTEN,
  DEFAULT_MODELS,
  DEFAULT_OPS_LISTEN,
  DEFAULT_UPSTREAMS,
} from '../default-settings.ts';
import { parseCollectorUrl } from '../parse-collector-url.ts';
import { books } from './books-schema.ts';
import {
  models,
  perMinute,
  plans,
  TOKENS_MAX,
  tokenCount,
  UPSTREAMS_MAX,
} from './catalogue-schema.ts';
import { oidc } from './oidc-schema.ts';
import {
  duration,
  expected,
  filePath,
  listOf,
  namedText,
  numberFrom,
  parsableText,
  secret,
  secretOf,
  settingsMap,
  trueOrFalse,
  wholeNumber,
} from './schema-parts.ts';
import { upstream } from './upstream-schema.ts';
import { warnings, webhooks } from './webhooks-schema.ts';

export const WORKERS_MAX = 256;

const BODY_BYTES_MAX = 128 * 1024 ** 2;
const KEPT_BYTES_MAX = 1024 ** 4;
const KEPT_MAX_MS = 30 * 24 * 3_600_000;
const UWS_BUILDS_MAX = 64;
const RATE_WINDOW_MAX_MS = 3_600_000;
const BYTES_PER_TOKEN_MAX = 8;
const PROXIES_MAX = 16;
const ORIGINS_MAX = 100;

const END_USER_SOURCES_MAX = 8;
/** The one that seals, and the one before it. */
const REASONING_SECRETS_MAX = 2;
/** Whoever has an account, or reads Redis, has texts to test guesses on. */
const lastingSecret = secretOf(16);
const END_USERS_MAX = 1_000_000;

const endUserSource = parsableText('a place such as metadata.user_id or header:x-user', (text) => {
  const source = parseEndUserSource(text);
  if (source !== undefined) return source;
  throw new Error(
    'must be metadata.user_id, safety_identifier, user, or header: and a name in lower case',
  );
});

const endpoint = parsableText('host:port, [ipv6]:port or unix:/path', parseEndpoint);

const tokensOrNone = wholeNumber(0, TOKENS_MAX);
const fileBound = z.union([z.literal('window'), tokensOrNone], {
  error: expected(`window or a whole number from 0 to ${TOKENS_MAX}`),
});

const byteSize = (max: number, maxText: string) =>
  z
    .union([z.number().transform(String), z.string()], {
      error: expected('a size such as 1048576, 512KiB, 32MiB or 1GiB'),
    })
    .pipe(parsableText('a size', parseByteSize))
    .pipe(
      z
        .number()
        .min(1, { error: 'must be at least 1 byte' })
        .max(max, { error: `must be at most ${maxText}` }),
    );

const bodyBytes = byteSize(BODY_BYTES_MAX, '128MiB');
const keptBytes = byteSize(KEPT_BYTES_MAX, '1024GiB');

// Unlike an API key, this may contain spaces: `Bearer …`.
const secretHeader = namedText(
  'text of 1 to 4096 visible ASCII characters, with spaces inside only',
  /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/,
).transform((value) => new Secret(value));

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/);

/**
 * An origin as browsers send it, since the texts are compared: no path, no capitals, no default
 * port.
 */
const origin = namedText(
  'an origin such as https://app.example.com, in lower case and without a path, or *',
  /^(?:\*|[a-z][a-z0-9+.-]{0,31}:\/\/[^\s/?#@*A-Z\\]{1,255})$/,
).refine((text) => !/^(?:http:.*:80|https:.*:443)$/.test(text), {
  error: 'must not name the usual port, which browsers leave out',
});

const tracing = settingsMap({
  endpoint: parsableText('a URL that begins with http:// or https://', parseCollectorUrl),
  sample: numberFrom(0, 1).prefault(1),
  headers: z
    .record(headerName, secretHeader, {
      error: expected('a map of header names, in lower case, to texts'),
    })
    .prefault({}),
});

/** The file, key by key, with its defaults. Rules between settings are in `find-conflicts.ts`. */
export const settingsSchema = settingsMap({
  listen: endpoint.prefault(DEFAULT_LISTEN),
  ops: settingsMap({
    listen: endpoint.prefault(DEFAULT_OPS_LISTEN),
    admin_token: secret.optional(),
    oidc: oidc.optional(),
  }).prefault({}),
  workers: wholeNumber(1, WORKERS_MAX).optional(),
  redis: settingsMap({
    url: parsableText('a URL such as redis://host:6379/0', parseRedisUrl).optional(),
  }).prefault({}),
  books: books.prefault({}),
  data_dir: filePath.prefault(DEFAULT_DATA_DIR),
  log_level: z
    .enum(['debug', 'info', 'warn', 'error'], {
      error: expected('one of debug, info, warn, error'),
    })
    .prefault('info'),
  request_log: z
    .enum(['errors', 'sampled', 'all'], { error: expected('one of errors, sampled, all') })
    .prefault('errors'),
  request_log_sample: numberFrom(0, 1).prefault(0.01),
  tracing: tracing.optional(),
  key_page: trueOrFalse().prefault(true),
  cors: settingsMap({ origins: listOf(origin, 'origins', 0, ORIGINS_MAX).prefault([]) }).prefault(
    {},
  ),
  catalogue: z.enum(['file', 'store'], { error: expected('one of file, store') }).prefault('file'),
  plans: plans.prefault({}),
  models: models.prefault(DEFAULT_MODELS),
  upstreams: listOf(upstream, 'upstreams', 1, UPSTREAMS_MAX).prefault(DEFAULT_UPSTREAMS),
  reasoning_secrets: listOf(lastingSecret, 'secrets', 0, REASONING_SECRETS_MAX).prefault([]),
  limits: settingsMap({
    body_bytes: bodyBytes.prefault('32MiB'),
    body_time: duration(1).prefault('60s'),
    over_ceiling: z
      .enum(['reject', 'clamp'], { error: expected('one of reject, clamp') })
      .prefault('reject'),
    rate_window: duration(1_000, RATE_WINDOW_MAX_MS).prefault('60s'),
    hold_output_max: tokenCount.optional(),
    end_users: settingsMap({
      from: listOf(endUserSource, 'places', 0, END_USER_SOURCES_MAX).prefault([
        ...DEFAULT_END_USER_SOURCES,
      ]),
      secret: lastingSecret.optional(),
      per_account: wholeNumber(1, END_USERS_MAX).prefault(100_000),
    }).prefault({}),
  }).prefault({}),
  kept_answers: settingsMap({
    enabled: trueOrFalse().prefault(true),
    time: duration(1_000, KEPT_MAX_MS).prefault('1h'),
    answer_bytes: keptBytes.prefault('2MiB'),
    account_bytes: keptBytes.prefault('8MiB'),
    total_bytes: keptBytes.prefault('4GiB'),
  }).prefault({}),
  warnings: warnings.prefault({}),
  webhooks: webhooks.prefault({}),
  on_leave: settingsMap({
    action: z.enum(['drain', 'stop'], { error: expected('one of drain, stop') }).prefault('drain'),
    timeout: duration(1).prefault('30s'),
  }).prefault({}),
  estimate: settingsMap({
    bytes_per_token: numberFrom(1, BYTES_PER_TOKEN_MAX).prefault(3),
    image_tokens: tokenCount.prefault(DEFAULT_IMAGE_TOKENS),
    image_url_tokens: tokensOrNone.prefault(DEFAULT_IMAGE_TOKENS),
    pdf_tokens: fileBound.prefault('window'),
    document_url_tokens: fileBound.prefault('window'),
    file_tokens: fileBound.prefault(0),
  }).prefault({}),
  guards: settingsMap({
    trusted_proxies: wholeNumber(0, PROXIES_MAX).prefault(0),
    failed_keys_per_minute: perMinute.prefault(60),
    free_calls_per_minute: perMinute.prefault(600),
    insurance_per_minute: perMinute.optional(),
  }).prefault({}),
  drain: settingsMap({ timeout: duration(0).prefault('120s') }).prefault({}),
  uws_sha256: listOf(
    namedText('64 hexadecimal digits', /^[0-9a-fA-F]{64}$/).toLowerCase(),
    'sha256 sums',
    0,
    UWS_BUILDS_MAX,
  ).prefault([]),
});

export type Settings = z.output<typeof settingsSchema>;
