import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { ArchivePlace } from '../lib/address/books-target.ts';
import { pathUnder } from '../lib/address/path-under.ts';
import { ANY_NAME } from '../lib/name-pattern.ts';
import { buildCatalogue, buildPrice } from './build-catalogue.ts';
import type { BooksConfig, Config, GuardsConfig, OidcConfig, UpstreamConfig } from './config.ts';
import { DEFAULT_ACCEPTS } from './default-settings.ts';
import { type Settings, WORKERS_MAX } from './schema/schema.ts';

type UpstreamSettings = Settings['upstreams'][number];

/**
 * Translates the names of the file into those of the code, and fills in settings that depend on
 * others.
 */
export function buildConfig(settings: Settings): Config {
  const { listen, ops, redis, limits, on_leave: onLeave, drain } = settings;
  return {
    listen,
    ops: { listen: ops.listen, adminToken: ops.admin_token, oidc: ops.oidc && buildOidc(ops.oidc) },
    workers: settings.workers ?? defaultWorkers(listen.kind),
    redis: redis.url ?? 'embedded',
    books: buildBooks(settings.books),
    dataDir: resolve(settings.data_dir),
    logLevel: settings.log_level,
    requestLog: { lines: settings.request_log, sample: settings.request_log_sample },
    tracing: settings.tracing,
    keyPage: settings.key_page,
    reasoningSecrets: settings.reasoning_secrets,
    cors: settings.cors,
    catalogue: settings.catalogue,
    ...buildCatalogue(settings, settings.upstreams),
    upstreams: settings.upstreams.map(buildUpstream),
    limits: {
      bodyBytesMax: limits.body_bytes,
      bodyTimeMaxMs: limits.body_time,
      overCeiling: limits.over_ceiling,
      rateWindowMs: limits.rate_window,
      outputHeldMax: limits.hold_output_max,
      endUsers: {
        sources: limits.end_users.from,
        secret: limits.end_users.secret,
        perAccountMax: limits.end_users.per_account,
      },
    },
    keptAnswers: settings.kept_answers.enabled ? buildKept(settings.kept_answers) : undefined,
    warnings: { atShare: settings.warnings.at, lowBalanceMicros: settings.warnings.low_balance },
    webhooks: {
      hosts: settings.webhooks.hosts,
      privateNetworks: settings.webhooks.private_networks,
      endpoints: settings.webhooks.endpoints,
    },
    onLeave: { action: onLeave.action, timeoutMs: onLeave.timeout },
    estimate: buildEstimate(settings.estimate),
    guards: buildGuards(settings.guards),
    drain: { timeoutMs: drain.timeout },
    uwsSha256: settings.uws_sha256,
  };
}

function buildOidc(oidc: NonNullable<Settings['ops']['oidc']>): OidcConfig {
  return {
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: oidc.client_secret,
    redirectUrl: oidc.redirect_url,
    roleClaim: oidc.role_claim,
    roles: oidc.roles,
    scopes: oidc.scopes,
    sessionMs: oidc.session,
    sessionIdleMs: oidc.session_idle,
  };
}

function buildBooks(books: Settings['books']): BooksConfig {
  return {
    place: books.url ?? { kind: 'file' },
    connectionsMax: books.connections,
    keepMs: books.keep,
    archive: books.archive && buildArchive(books.archive),
    waitingEntriesMax: books.waiting_entries_max,
  };
}

function buildArchive({
  folder,
  s3,
}: NonNullable<Settings['books']['archive']>): ArchivePlace | undefined {
  if (folder !== undefined) return { kind: 'folder', folder: resolve(folder) };
  if (s3 === undefined) return undefined;
  const { endpoint, region, bucket, prefix } = s3;
  const keys = { accessKey: s3.access_key, secretKey: s3.secret_key };
  return { kind: 's3', endpoint, region, bucket, prefix, ...keys };
}

function buildKept(kept: Settings['kept_answers']): NonNullable<Config['keptAnswers']> {
  return {
    ttlMs: kept.time,
    answerBytesMax: kept.answer_bytes,
    accountBytesMax: kept.account_bytes,
    totalBytesMax: kept.total_bytes,
  };
}

function buildEstimate(estimate: Settings['estimate']): Config['estimate'] {
  return {
    bytesPerToken: estimate.bytes_per_token,
    imageTokens: estimate.image_tokens,
    imageUrlTokens: estimate.image_url_tokens,
    pdfTokens: estimate.pdf_tokens,
    documentUrlTokens: estimate.document_url_tokens,
    fileTokens: estimate.file_tokens,
  };
}

function buildGuards(guards: Settings['guards']): GuardsConfig {
  return {
    trustedProxies: guards.trusted_proxies,
    failedKeysPerMinuteMax: guards.failed_keys_per_minute,
    freeCallsPerMinuteMax: guards.free_calls_per_minute,
    insurancePerMinuteMax: guards.insurance_per_minute,
  };
}

/** Only TCP ports can be shared between processes. */
function defaultWorkers(listenKind: Settings['listen']['kind']): number {
  return listenKind === 'unix' ? 1 : Math.min(availableParallelism(), WORKERS_MAX);
}

function buildProbe({ url, probe }: UpstreamSettings): UpstreamConfig['probe'] {
  if (url === undefined || probe === undefined) return undefined;
  const { path = pathUnder(url, '/models'), interval, timeout } = probe;
  return { path, intervalMs: interval, timeoutMs: timeout };
}

function buildUpstream(upstream: UpstreamSettings): UpstreamConfig {
  const { timeouts, simulated, headers, tls } = upstream;
  return {
    name: upstream.name,
    kind: upstream.kind,
    url: upstream.url,
    apiKey: upstream.api_key,
    modelNames: upstream.model_names,
    costs: Object.fromEntries(
      Object.entries(upstream.cost).map(([model, price]) => [model, buildPrice(price)]),
    ),
    outputLimitFields: upstream.output_limit_field,
    accepts: { [ANY_NAME]: DEFAULT_ACCEPTS[upstream.kind], ...upstream.accepts },
    sampling: upstream.sampling,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    tls: tls && {
      caFile: tls.ca_file === undefined ? undefined : resolve(tls.ca_file),
      serverName: tls.server_name,
    },
    probe: buildProbe(upstream),
    unknownFields: upstream.unknown_fields,
    concurrencyMax: upstream.max_concurrency,
    timeouts: {
      connectMs: timeouts.connect,
      firstByteMs: timeouts.first_byte,
      idleMs: timeouts.idle,
      totalMs: timeouts.total,
    },
    simulated:
      upstream.kind === 'simulated'
        ? {
            seed: simulated.seed,
            latencyMs: simulated.latency,
            tokensPerSecond: simulated.tokens_per_second,
            errorRate: simulated.error_rate,
          }
        : undefined,
  };
}
