import { z } from 'zod';
import { parseEndpoint } from '../../lib/address/parse-endpoint.ts';
import { parseRedisUrl } from '../../lib/address/parse-redis-url.ts';
import { ANY_NAME } from '../../lib/name-pattern.ts';
import { Secret } from '../../lib/secret.ts';
import { parseByteSize } from '../../lib/units/parse-byte-size.ts';
import { UPSTREAM_KINDS } from '../../protocol/format-names.ts';
import {
  DEFAULT_CONTEXT_LENGTH,
  DEFAULT_DATA_DIR,
  DEFAULT_IMAGE_TOKENS,
  DEFAULT_LISTEN,
  DEFAULT_MODELS,
  DEFAULT_OPS_LISTEN,
  DEFAULT_UPSTREAMS,
} from '../default-settings.ts';
import { parseCollectorUrl } from '../parse-collector-url.ts';
import { parseUpstreamUrl } from '../parse-upstream-url.ts';
import {
  duration,
  expected,
  listOf,
  namedText,
  numberFrom,
  parsableText,
  settingsMap,
  trueOrFalse,
  wholeNumber,
} from './schema-parts.ts';

export const WORKERS_MAX = 256;

const BODY_BYTES_MAX = 1024 ** 3;
const REQUESTS_PER_MINUTE_MAX = 1_000_000;
const TOKENS_MAX = 100_000_000;
const PRICE_MAX = 1_000_000;
const WEIGHT_MAX = 1_000;
const PRIORITY_MAX = 100;
const SEED_MAX = 2 ** 32 - 1;
const TOKENS_PER_SECOND_MAX = 1_000_000;
const CONCURRENCY_MAX = 100_000;
const MODELS_MAX = 256;
const ALIASES_MAX = 32;
const UPSTREAMS_MAX = 64;
const UWS_BUILDS_MAX = 64;
const RATE_WINDOW_MS_MAX = 3_600_000;
const BYTES_PER_TOKEN_MAX = 8;
const PROXIES_MAX = 16;
const ORIGINS_MAX = 100;
/** Each probe is a request. More frequent ones tell nothing more. */
const PROBE_INTERVAL_MS_MIN = 100;

const name = namedText(
  'a name of at most 128 letters, digits and . _ : -',
  /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
);

const modelName = namedText(
  'a name of at most 128 letters, digits and . _ : - /, which does not end with /',
  /^[A-Za-z0-9](?:[A-Za-z0-9._:/-]{0,126}[A-Za-z0-9._:-])?$/,
);

const alias = namedText(
  'a name of at most 128 letters, digits and . _ : - /, which does not end with /; * stands for any others',
  /^[A-Za-z0-9*](?:[A-Za-z0-9._:*/-]{0,126}[A-Za-z0-9._:*-])?$/,
);

// The text must fit into a header. See `expected` for why the message is this plain.
const secret = namedText(
  'text of 1 to 4096 visible ASCII characters, without spaces',
  /^[\x21-\x7e]{1,4096}$/,
).transform((value) => new Secret(value));

const endpoint = parsableText('host:port, [ipv6]:port or unix:/path', parseEndpoint);

const path = namedText('a path of at most 4096 characters', /^\P{Cc}{1,4096}$/u);

const price = numberFrom(0, PRICE_MAX);
const perMinute = wholeNumber(1, REQUESTS_PER_MINUTE_MAX);
const tokens = wholeNumber(1, TOKENS_MAX);
const tokensOrNone = wholeNumber(0, TOKENS_MAX);
const fileBound = z
  .union([z.literal('window'), tokensOrNone], {
    error: expected(`window or a whole number from 0 to ${TOKENS_MAX}`),
  })
  .prefault('window');

const model = settingsMap({
  id: modelName,
  aliases: listOf(alias, 'names', 0, ALIASES_MAX).prefault([]),
  context_length: tokens.prefault(DEFAULT_CONTEXT_LENGTH),
  beta_context_length: tokens.optional(),
  max_output_tokens: tokens,
  price: settingsMap({
    input: price,
    output: price,
    cache_read: price.optional(),
    cache_write_5m: price.optional(),
    cache_write_1h: price.optional(),
    web_search: price.optional(),
  }),
  routes: listOf(
    settingsMap({
      upstream: name,
      weight: wholeNumber(1, WEIGHT_MAX).prefault(1),
      priority: wholeNumber(1, PRIORITY_MAX).prefault(1),
    }),
    'routes',
    1,
    UPSTREAMS_MAX,
  ).optional(),
});

const vendorName = namedText(
  'a name of at most 256 visible characters',
  /^[^\s\p{Cc}\p{Cs}]{1,256}$/u,
);

// Spaces inside are common (`Bearer …`). Spaces at the ends would be lost on the way.
const headerValue = namedText(
  'text of 1 to 4096 printable ASCII characters, without spaces at its ends',
  /^(?! )[\x20-\x7e]{1,4096}(?<! )$/,
).transform((value) => new Secret(value));

const LIMIT_FIELDS = 'one of max_completion_tokens, max_tokens';
const limitField = z.enum(['max_completion_tokens', 'max_tokens'], {
  error: expected(LIMIT_FIELDS),
});

const upstream = settingsMap({
  name,
  kind: z.enum(UPSTREAM_KINDS, { error: expected(`one of ${UPSTREAM_KINDS.join(', ')}`) }),
  url: parsableText('a URL that begins with http:// or https://', parseUpstreamUrl).optional(),
  api_key: secret.optional(),
  model_names: z
    .record(z.string(), vendorName, { error: expected('a map of model ids to names') })
    .prefault({}),
  output_limit_field: z
    .union([limitField, z.record(z.string(), z.unknown())], {
      error: expected(`${LIMIT_FIELDS}, or a map of model ids to them`),
    })
    .transform((value) => (typeof value === 'string' ? { [ANY_NAME]: value } : value))
    .pipe(z.record(z.string(), limitField))
    .prefault({}),
  accepts: listOf(
    z.enum(['pdf', 'effort', 'reasoning_content'], {
      error: expected('one of pdf, effort, reasoning_content'),
    }),
    'of pdf, effort, reasoning_content',
    0,
    3,
  ).optional(),
  headers: z
    .record(z.string(), headerValue, { error: expected('a map of header names to values') })
    .prefault({}),
  tls: settingsMap({
    ca_file: path.optional(),
    server_name: namedText(
      'the name of a host',
      /^(?=.{1,253}$)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*$/,
    ).optional(),
  }).optional(),
  probe: settingsMap({
    path: namedText(
      'a path that begins with /, at most 2048 visible ASCII characters',
      /^\/[\x21-\x7e]{0,2047}$/,
    ).optional(),
    interval: duration(PROBE_INTERVAL_MS_MIN).prefault('5s'),
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

const bodyBytes = z
  .union([z.number().transform(String), z.string()], {
    error: expected('a size such as 1048576, 512KiB, 32MiB or 1GiB'),
  })
  .pipe(parsableText('a size', parseByteSize))
  .pipe(
    z
      .number()
      .min(1, { error: 'must be at least 1 byte' })
      .max(BODY_BYTES_MAX, { error: 'must be at most 1GiB' }),
  );

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
  }).prefault({}),
  workers: wholeNumber(1, WORKERS_MAX).optional(),
  redis: settingsMap({
    url: parsableText('a URL such as redis://host:6379/0', parseRedisUrl).optional(),
  }).prefault({}),
  data_dir: path.prefault(DEFAULT_DATA_DIR),
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
  plans: settingsMap({
    starter: perMinute.prefault(60),
    pro: perMinute.prefault(300),
    business: perMinute.prefault(1_000),
    team: perMinute.prefault(2_000),
  }).prefault({}),
  models: listOf(model, 'models', 1, MODELS_MAX).prefault(DEFAULT_MODELS),
  upstreams: listOf(upstream, 'upstreams', 1, UPSTREAMS_MAX).prefault(DEFAULT_UPSTREAMS),
  limits: settingsMap({
    body_bytes: bodyBytes.prefault('32MiB'),
    body_time: duration(1).prefault('60s'),
    over_ceiling: z
      .enum(['reject', 'clamp'], { error: expected('one of reject, clamp') })
      .prefault('reject'),
    rate_window: duration(1_000, RATE_WINDOW_MS_MAX).prefault('60s'),
  }).prefault({}),
  on_leave: settingsMap({
    action: z.enum(['drain', 'stop'], { error: expected('one of drain, stop') }).prefault('drain'),
    timeout: duration(1).prefault('30s'),
  }).prefault({}),
  estimate: settingsMap({
    bytes_per_token: numberFrom(1, BYTES_PER_TOKEN_MAX).prefault(3),
    image_tokens: tokens.prefault(DEFAULT_IMAGE_TOKENS),
    image_url_tokens: tokensOrNone.prefault(DEFAULT_IMAGE_TOKENS),
    pdf_tokens: fileBound,
    document_url_tokens: fileBound,
    file_tokens: fileBound,
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
