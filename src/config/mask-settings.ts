import { stringify } from 'yaml';
import type { ArchivePlace } from '../lib/address/books-target.ts';
import { formatBooksUrl } from '../lib/address/parse-books-url.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';
import { formatRedisUrl } from '../lib/address/parse-redis-url.ts';
import { ANY_NAME } from '../lib/name-pattern.ts';
import type { Secret } from '../lib/secret.ts';
import { creditsOf } from '../lib/units/micros.ts';
import { formatByteSize } from '../lib/units/parse-byte-size.ts';
import { formatDuration } from '../lib/units/parse-duration.ts';
import { formatEndUserSource } from '../protocol/find-end-user.ts';
import type {
  BooksConfig,
  Config,
  GuardsConfig,
  OpsConfig,
  TracingConfig,
  UpstreamConfig,
  WebhooksConfig,
} from './config.ts';
import { describeModel, describePlans, describePrice } from './describe-catalogue.ts';

type Show<Shown> = (secret: Secret) => Shown;

/** The settings in use, under the names of the file, with a mask for every secret. */
export function maskSettings(config: Config) {
  return showSettings(config, String);
}

/**
 * The same settings with whatever `show` makes of a secret. The passwords of `redis.url` and
 * `books.url` are masked in any case.
 */
export function showSettings<Shown>(config: Config, show: Show<Shown>) {
  const { ops, limits, redis } = config;
  return {
    listen: formatEndpoint(config.listen),
    ops: showOps(ops, show),
    workers: config.workers,
    redis: redis === 'embedded' ? {} : { url: formatRedisUrl(redis) },
    books: showBooks(config.books, show),
    data_dir: config.dataDir,
    log_level: config.logLevel,
    request_log: config.requestLog.lines,
    request_log_sample: config.requestLog.sample,
    tracing: config.tracing && showTracing(config.tracing, show),
    key_page: config.keyPage,
    cors: config.cors,
    catalogue: config.catalogue,
    plans: describePlans(config.plans),
    models: config.models.map((model) => ({ ...describeModel(model), routes: model.routes })),
    upstreams: config.upstreams.map((upstream) => showUpstream(upstream, show)),
    reasoning_secrets: config.reasoningSecrets.map(show),
    limits: {
      body_bytes: formatByteSize(limits.bodyBytesMax),
      body_time: formatDuration(limits.bodyTimeMaxMs),
      over_ceiling: limits.overCeiling,
      rate_window: formatDuration(limits.rateWindowMs),
      hold_output_max: limits.outputHeldMax,
      end_users: {
        from: limits.endUsers.sources.map(formatEndUserSource),
        secret: limits.endUsers.secret && show(limits.endUsers.secret),
        per_account: limits.endUsers.perAccountMax,
      },
    },
    kept_answers: showKeptAnswers(config.keptAnswers),
    warnings: {
      at: config.warnings.atShare,
      low_balance: creditsOf(config.warnings.lowBalanceMicros),
    },
    webhooks: showWebhooks(config.webhooks, show),
    on_leave: {
      action: config.onLeave.action,
      timeout: formatDuration(config.onLeave.timeoutMs),
    },
    estimate: showEstimate(config.estimate),
    guards: showGuards(config.guards),
    drain: { timeout: formatDuration(config.drain.timeoutMs) },
    uws_sha256: config.uwsSha256,
  };
}

/** The same settings as text: a valid settings file, apart from the masks. */
export function printSettings(config: Config): string {
  return stringify(maskSettings(config), { lineWidth: 0, aliasDuplicateObjects: false });
}

function showOps<Shown>({ listen, adminToken, oidc }: OpsConfig, show: Show<Shown>) {
  return {
    listen: formatEndpoint(listen),
    admin_token: adminToken && show(adminToken),
    oidc: oidc && {
      issuer: oidc.issuer,
      client_id: oidc.clientId,
      client_secret: oidc.clientSecret && show(oidc.clientSecret),
      redirect_url: oidc.redirectUrl,
      role_claim: oidc.roleClaim,
      roles: oidc.roles,
      scopes: oidc.scopes,
      session: formatDuration(oidc.sessionMs),
      session_idle: formatDuration(oidc.sessionIdleMs),
    },
  };
}

function showBooks<Shown>({ place, archive, ...books }: BooksConfig, show: Show<Shown>) {
  return {
    url: place.kind === 'file' ? undefined : formatBooksUrl(place.url),
    connections: books.connectionsMax,
    keep: formatDuration(books.keepMs),
    archive: archive && showArchive(archive, show),
    waiting_entries_max: books.waitingEntriesMax,
  };
}

function showArchive<Shown>(archive: ArchivePlace, show: Show<Shown>) {
  if (archive.kind === 'folder') return { folder: archive.folder };
  const { endpoint, region, bucket, prefix } = archive;
  const keys = { access_key: show(archive.accessKey), secret_key: show(archive.secretKey) };
  return { s3: { endpoint, region, bucket, prefix, ...keys } };
}

function showKeptAnswers(terms: Config['keptAnswers']) {
  if (terms === undefined) return { enabled: false };
  return {
    enabled: true,
    time: formatDuration(terms.ttlMs),
    answer_bytes: formatByteSize(terms.answerBytesMax),
    account_bytes: formatByteSize(terms.accountBytesMax),
    total_bytes: formatByteSize(terms.totalBytesMax),
  };
}

function showWebhooks<Shown>(
  { hosts, privateNetworks, endpoints }: WebhooksConfig,
  show: Show<Shown>,
) {
  return {
    hosts,
    private_networks: privateNetworks.map(({ address, bits }) => `${address}/${bits}`),
    endpoints: endpoints.map(({ name, url, secrets, events }) => ({
      ...{ name, url, secrets: secrets.map(show), events },
    })),
  };
}

function showEstimate(estimate: Config['estimate']) {
  return {
    bytes_per_token: estimate.bytesPerToken,
    image_tokens: estimate.imageTokens,
    image_url_tokens: estimate.imageUrlTokens,
    pdf_tokens: estimate.pdfTokens,
    document_url_tokens: estimate.documentUrlTokens,
    file_tokens: estimate.fileTokens,
  };
}

function showTracing<Shown>({ endpoint, sample, headers }: TracingConfig, show: Show<Shown>) {
  return { endpoint, sample, headers: showHeaders(headers, show) };
}

function showGuards(guards: GuardsConfig) {
  return {
    trusted_proxies: guards.trustedProxies,
    failed_keys_per_minute: guards.failedKeysPerMinuteMax,
    free_calls_per_minute: guards.freeCallsPerMinuteMax,
    insurance_per_minute: guards.insurancePerMinuteMax,
  };
}

function showHeaders<Shown>(headers: UpstreamConfig['headers'], show: Show<Shown>) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, show(value)]));
}

/** One value, unless models differ. */
function showByModel<Value>(byModel: Readonly<Record<string, Value>>) {
  const { [ANY_NAME]: value, ...others } = byModel;
  return value !== undefined && Object.keys(others).length === 0 ? value : byModel;
}

function showUpstream<Shown>(upstream: UpstreamConfig, show: Show<Shown>) {
  const { timeouts, simulated, headers, tls, probe } = upstream;
  return {
    name: upstream.name,
    kind: upstream.kind,
    url: upstream.url,
    api_key: upstream.apiKey && show(upstream.apiKey),
    model_names: upstream.modelNames,
    cost: Object.fromEntries(
      Object.entries(upstream.costs).map(([model, price]) => [model, describePrice(price)]),
    ),
    // Only a chat upstream may have this setting.
    output_limit_field: upstream.kind === 'chat' ? upstream.outputLimitFields : undefined,
    accepts: simulated === undefined ? showByModel(upstream.accepts) : undefined,
    sampling: simulated === undefined ? showByModel(upstream.sampling) : undefined,
    // A simulated upstream may not have headers, not even an empty map.
    headers: simulated === undefined ? showHeaders(headers, show) : undefined,
    tls: tls && { ca_file: tls.caFile, server_name: tls.serverName },
    probe: probe && {
      path: probe.path,
      interval: formatDuration(probe.intervalMs),
      timeout: formatDuration(probe.timeoutMs),
    },
    unknown_fields: simulated === undefined ? upstream.unknownFields : undefined,
    max_concurrency: upstream.concurrencyMax,
    timeouts: {
      connect: formatDuration(timeouts.connectMs),
      first_byte: formatDuration(timeouts.firstByteMs),
      idle: formatDuration(timeouts.idleMs),
      total: formatDuration(timeouts.totalMs),
    },
    simulated: simulated && {
      seed: simulated.seed,
      latency: formatDuration(simulated.latencyMs),
      tokens_per_second: simulated.tokensPerSecond,
      error_rate: simulated.errorRate,
    },
  };
}
