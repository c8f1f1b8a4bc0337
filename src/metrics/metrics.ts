import { FAST, LAG, PROPAGATION, SLOW, STORE } from './buckets.ts';
import * as sets from './label-sets.ts';
import { counter, gauge, histogram, type MetricDeclaration } from './metric-declaration.ts';

const [route, model, upstream] = [sets.ROUTES, 'models', 'upstreams'] as const;

/** EVERY metric there is. src/docs/metrics.md lists them from here. */
export const METRICS = {
  requests: counter('tollgate_requests_total', 'Requests to models that have ended.', {
    route,
    model,
    status: sets.STATUSES,
    outcome: sets.OUTCOMES,
  }),
  refusals: counter('tollgate_refusals_total', 'Requests that ended with a refusal, by its name.', {
    refusal: sets.REFUSAL_NAMES,
  }),
  requestSeconds: histogram(
    'tollgate_request_duration_seconds',
    SLOW,
    'Time from the head of a request to the end of its answer.',
    { route, model },
  ),
  overheadSeconds: histogram(
    'tollgate_gateway_overhead_seconds',
    FAST,
    'Time that the gateway itself spent on a request, without waits for the upstream or the client. For a stream, up to its first event.',
    { route },
  ),
  firstEventSeconds: histogram(
    'tollgate_time_to_first_token_seconds',
    SLOW,
    'Time from the head of a request to the first event from its upstream.',
    { route, model },
  ),
  tokens: counter('tollgate_tokens_total', 'Tokens that were billed; output includes thinking.', {
    model,
    kind: sets.TOKEN_KINDS,
  }),
  searches: counter('tollgate_searches_total', 'Web searches that were billed.', { model }),
  creditsCharged: counter(
    'tollgate_credits_charged_total',
    'Credits that answers cost, before cap and balance reduce them.',
    { model },
  ),
  usageMissing: counter(
    'tollgate_usage_missing_total',
    'Answers with text for which the upstream reported no usage, or no output usage.',
    { model },
  ),
  usageEstimated: counter(
    'tollgate_usage_estimated_total',
    'Answers billed by an estimate of what was delivered, because there was no count.',
    { model },
  ),
  usageImplausible: counter(
    'tollgate_usage_implausible_total',
    'Answers whose upstream reported more tokens than possible; they are billed for at most the requested amount.',
    { upstream, model },
  ),
  answersKept: counter(
    'tollgate_answers_kept_total',
    'Answers that clients wanted to be kept, by outcome.',
    { outcome: sets.KEPT_OUTCOMES },
  ),
  keptBytes: gauge(
    'tollgate_answers_kept_bytes',
    'max',
    'Size of kept answers in Redis, as last seen by a worker.',
  ),
  answersDraining: gauge(
    'tollgate_answers_draining',
    'sum',
    'Answers still being read for their usage after their clients left.',
  ),
  exchangesActive: gauge('tollgate_exchanges_active', 'sum', 'Requests of any kind in progress.'),
  streamsActive: gauge('tollgate_streams_active', 'sum', 'Streams in progress.'),
  streamsAborted: counter(
    'tollgate_streams_aborted_total',
    'Streams that began but did not finish.',
    { reason: sets.STREAM_ABORT_REASONS },
  ),
  proxyDoubts: counter(
    'tollgate_trusted_proxies_doubts_total',
    'Requests with good keys that show that `guards.trusted_proxies` is too low or too high.',
    { doubt: sets.PROXY_DOUBTS },
  ),
  admissions: counter('tollgate_admissions_total', 'Attempts to admit a request, by outcome.', {
    outcome: sets.ADMISSION_OUTCOMES,
  }),
  admissionSeconds: histogram(
    'tollgate_admission_seconds',
    STORE,
    'Duration of admissions, including retries.',
  ),
  holdsActive: gauge('tollgate_holds_active', 'sum', 'Holds of this node.'),
  holdsSwept: counter(
    'tollgate_holds_swept_total',
    'Holds that this node ended because their lease ran out.',
  ),
  creditsSwept: counter('tollgate_credits_swept_total', 'Credits charged for swept holds.'),
  sweepBuckets: gauge('tollgate_sweep_buckets', 'sum', 'Buckets that this node sweeps.'),
  settlements: counter(
    'tollgate_settlements_total',
    'Settlements that have ended; those of kind `too_old`, `fault` and `dropped` must be resolved by hand.',
    { kind: sets.SETTLE_KINDS },
  ),
  creditsSettled: counter('tollgate_credits_settled_total', 'Credits charged to balances.'),
  settlementsShort: counter(
    'tollgate_settlements_short_total',
    'Settlements for which the cap or the balance was too low.',
  ),
  creditsShort: counter(
    'tollgate_credits_short_total',
    'Credits that were not charged because the cap or the balance was too low.',
  ),
  settleQueueDepth: gauge('tollgate_settle_queue_depth', 'sum', 'Settlements queued for Redis.'),
  settleJournalDepth: gauge(
    'tollgate_settle_journal_depth',
    'sum',
    "Settlements in the node's journal that Redis has not recorded yet.",
  ),
  unsettledSize: gauge('tollgate_unsettled_bytes', 'sum', 'The size of `unsettled.ndjson`.'),
  booksIngesting: gauge('tollgate_books_ingesting', 'max', '1 on the node that fills the books.'),
  booksLag: gauge(
    'tollgate_books_lag_seconds',
    'max',
    'Time since the books last had everything that is in Redis; every node reports it.',
  ),
  booksWaiting: gauge(
    'tollgate_books_waiting_entries',
    'max',
    'Entries in Redis: those not yet in the books, and those entered in the last ten minutes.',
  ),
  booksGaps: gauge('tollgate_books_gaps', 'max', 'Ranges of entries missing from the books.'),
  booksRepeats: gauge('tollgate_books_repeats', 'max', 'Events that arrived under two ids.'),
  booksDoubtful: gauge(
    'tollgate_books_doubtful',
    'max',
    'Late entries that wait for comparison with the archive and do not count yet.',
  ),
  booksDrifts: gauge(
    'tollgate_books_drifts',
    'max',
    'Differences that the last `tollgate ledger verify` found, except accepted ones.',
  ),
  booksHoldsUnsettled: gauge(
    'tollgate_books_holds_unsettled',
    'max',
    'Holds that ran out and were never settled, according to the last `tollgate ledger verify`; 0 before the first.',
  ),
  booksVerifiedTime: gauge(
    'tollgate_books_verified_timestamp_seconds',
    'max',
    'Time of the last `tollgate ledger verify`.',
  ),
  booksArchivedDays: gauge('tollgate_books_archived', 'max', 'Days in the archive.'),
  booksDaysDue: gauge(
    'tollgate_books_due',
    'max',
    'Days older than `books.keep` that are not in the archive; absent without an archive.',
  ),
  booksArchiveFailures: counter(
    'tollgate_books_archive_failures_total',
    'Archiver runs that left due days in the books.',
  ),
  booksSize: gauge('tollgate_books_size_bytes', 'max', 'The size of the books on disk.'),
  revocationSeconds: histogram(
    'tollgate_revocation_propagation_seconds',
    PROPAGATION,
    'Time from the change in Redis that blocks a key or an account until a worker hears of it.',
    { subject: sets.CHANGE_SUBJECTS },
  ),
  limitEvents: counter(
    'tollgate_limit_events_total',
    'Events of limits and balances that this node added to the list, by the level of the limit.',
    { type: sets.LIMIT_EVENTS, level: sets.LIMIT_LEVELS },
  ),
  limitEventsLost: counter(
    'tollgate_limit_events_lost_total',
    'Events lost because their bucket already had 1,000 that no node had collected; they are never sent.',
  ),
  webhookEvents: counter(
    'tollgate_webhook_events_total',
    'Attempts to send events to webhooks; `dropped` and `lost` events are never delivered.',
    { result: sets.WEBHOOK_RESULTS },
  ),
  webhooksWaiting: gauge(
    'tollgate_webhook_events_waiting',
    'sum',
    'Events waiting for webhooks on the node that delivers them, as far as it has read the list.',
  ),
  webhooksFailing: gauge('tollgate_webhooks_failing', 'sum', 'Webhooks whose last attempt failed.'),
  webhookFailingSeconds: gauge(
    'tollgate_webhook_failing_seconds',
    'max',
    'How long the longest-failing webhook has been failing; 0 if none is.',
  ),
  upstreamTries: counter('tollgate_upstream_tries_total', 'Calls to upstreams that have ended.', {
    upstream,
    result: sets.TRY_RESULTS,
  }),
  upstreamRetries: counter(
    'tollgate_upstream_retries_total',
    'Retries: calls that were not the first for their request.',
    { upstream },
  ),
  upstreamInFlight: gauge(
    'tollgate_upstream_in_flight',
    'sum',
    'Requests in progress at an upstream.',
    { upstream },
  ),
  upstreamState: gauge(
    'tollgate_upstream_state',
    'sum',
    'Workers, except draining ones, whose breaker for the upstream is in that state.',
    { upstream, state: sets.UPSTREAM_STATES },
  ),
  redisUp: gauge('tollgate_redis_up', 'min', '1 while every worker finds that Redis takes writes.'),
  redisBreakersOpen: gauge(
    'tollgate_redis_breakers_open',
    'sum',
    'Circuit breakers of workers that are open for Redis now.',
  ),
  redisMemoryUsed: gauge(
    'tollgate_redis_memory_used_ratio',
    'max',
    'Used share of `maxmemory` on the fullest master; absent if no limit is set.',
  ),
  redisSeconds: histogram(
    'tollgate_redis_command_duration_seconds',
    STORE,
    'Duration of Redis commands that got a reply.',
    { connection: sets.REDIS_CONNECTIONS },
  ),
  redisErrors: counter('tollgate_redis_errors_total', 'Redis commands that failed.', {
    connection: sets.REDIS_CONNECTIONS,
    kind: sets.REDIS_ERROR_KINDS,
  }),
  workers: gauge('tollgate_workers', 'sum', 'Workers that accept or finish requests.'),
  workerRestarts: counter('tollgate_worker_restarts_total', 'Workers that died and were replaced.'),
  workersSilent: counter(
    'tollgate_workers_silent_total',
    'Workers that did not report their metrics within a second of a scrape; the scrape lacks their gauges.',
  ),
  requestLogLinesDropped: counter(
    'tollgate_request_log_lines_dropped_total',
    'Lines of the request log that were dropped because they could not be written in time.',
  ),
  spansDropped: counter('tollgate_spans_dropped_total', 'Spans that the collector did not accept.'),
  eventLoopLag: histogram(
    'tollgate_event_loop_lag_seconds',
    LAG,
    'The longest delay of an event loop in each second.',
    { process: sets.PROCESSES },
  ),
  memory: gauge('tollgate_memory_bytes', 'sum', 'Total memory of all processes of a kind.', {
    process: sets.PROCESSES,
    kind: sets.MEMORY_KINDS,
  }),
  adminCalls: counter(
    'tollgate_admin_calls_total',
    'Calls to the admin API, by caller and whether they were allowed; `unavailable`: Redis did not respond.',
    { by: sets.CALLERS, outcome: sets.CALL_OUTCOMES },
  ),
  signIns: counter('tollgate_sign_ins_total', 'Sign-ins by OpenID.', {
    result: sets.SIGN_INS,
  }),
  reloads: counter('tollgate_reloads_total', 'Reloads.', { result: sets.RELOAD_RESULTS }),
  configHash: gauge(
    'tollgate_config_hash',
    'max',
    'A hash of the settings, without secrets, addresses, data folder and workers; nodes with the same settings have the same value.',
  ),
  members: gauge('tollgate_members', 'max', 'Nodes of the fleet.', { state: sets.NODE_STATES }),
  memberVersions: gauge(
    'tollgate_member_versions',
    'max',
    'Number of different settings, catalogues and program versions among running nodes.',
    { of: sets.VERSIONED },
  ),
  catalogueVersion: gauge(
    'tollgate_catalogue_version',
    'min',
    'The version of the catalogue that the node sells; absent if the catalogue is in the settings file.',
  ),
  catalogueRefused: gauge(
    'tollgate_catalogue_refused',
    'max',
    '1 while the node cannot sell the version that should apply, and sells an older one.',
  ),
  buildInfo: gauge('tollgate_build_info', 'max', 'Always 1.', {
    version: 'versions',
    node: 'nodeVersions',
  }),
} as const satisfies Record<string, MetricDeclaration>;
