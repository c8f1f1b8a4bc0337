import { FAST, LAG, PROPAGATION, SLOW, STORE } from './buckets.ts';
import * as sets from './label-sets.ts';
import { counter, gauge, histogram, type MetricDeclaration } from './metric-declaration.ts';

const route = sets.ROUTES;
const model = 'models';
const upstream = 'upstreams';

/** EVERY metric there is. src/docs/metrics.md lists them from here. */
export const METRICS = {
  requests: counter(
    'tollgate_requests_total',
    { route, model, status: sets.STATUSES, outcome: sets.OUTCOMES },
    'Requests of the two message routes that have ended.',
  ),
  refusals: counter(
    'tollgate_refusals_total',
    { refusal: sets.REFUSAL_NAMES },
    'Requests that ended with a refusal, by its name.',
  ),
  requestSeconds: histogram(
    'tollgate_request_duration_seconds',
    { route, model },
    SLOW,
    'From the head of a request to the end of its answer.',
  ),
  overheadSeconds: histogram(
    'tollgate_gateway_overhead_seconds',
    { route },
    FAST,
    'What the gateway itself took of a request: neither upstream nor client was waited for. Of a stream, up to its first event.',
  ),
  firstEventSeconds: histogram(
    'tollgate_time_to_first_token_seconds',
    { route, model },
    SLOW,
    'From the head of a request to the first event of its upstream.',
  ),
  tokens: counter(
    'tollgate_tokens_total',
    { model, kind: sets.TOKEN_KINDS },
    'Tokens that were billed; output includes thinking.',
  ),
  searches: counter('tollgate_searches_total', { model }, 'Searches of the web that were billed.'),
  creditsCharged: counter(
    'tollgate_credits_charged_total',
    { model },
    'Credits that answers cost, before cap and balance cut them.',
  ),
  usageMissing: counter(
    'tollgate_usage_missing_total',
    { model },
    'Answers with text for which the upstream told no usage, or none of the output.',
  ),
  usageEstimated: counter(
    'tollgate_usage_estimated_total',
    { model },
    'Answers billed by what was delivered, since nobody had counted.',
  ),
  usageImplausible: counter(
    'tollgate_usage_implausible_total',
    { upstream, model },
    'Answers whose upstream told more tokens than there can have been; they are billed for what was asked at most.',
  ),
  answersDraining: gauge(
    'tollgate_answers_draining',
    {},
    'sum',
    'Answers that are read on for their usage, since their clients have left.',
  ),
  exchangesActive: gauge('tollgate_exchanges_active', {}, 'sum', 'Requests of any kind that run.'),
  streamsActive: gauge('tollgate_streams_active', {}, 'sum', 'Streams that run.'),
  streamsAborted: counter(
    'tollgate_streams_aborted_total',
    { reason: sets.STREAM_ABORT_REASONS },
    'Streams that had begun and did not come to their end.',
  ),
  proxyDoubts: counter(
    'tollgate_trusted_proxies_doubts_total',
    { doubt: sets.PROXY_DOUBTS },
    'Requests with good keys that show `guards.trusted_proxies` to be too low or too high.',
  ),
  admissions: counter(
    'tollgate_admissions_total',
    { outcome: sets.ADMISSION_OUTCOMES },
    'What became of requests that asked to be admitted.',
  ),
  admissionSeconds: histogram(
    'tollgate_admission_seconds',
    {},
    STORE,
    'How long admissions took, with all attempts.',
  ),
  holdsActive: gauge('tollgate_holds_active', {}, 'sum', 'Holds that this node keeps.'),
  holdsSwept: counter(
    'tollgate_holds_swept_total',
    {},
    'Holds whose lease ran out and that this node ended.',
  ),
  creditsSwept: counter('tollgate_credits_swept_total', {}, 'Credits charged for swept holds.'),
  sweepBuckets: gauge('tollgate_sweep_buckets', {}, 'sum', 'Buckets that this node sweeps.'),
  settlements: counter(
    'tollgate_settlements_total',
    { kind: sets.SETTLE_KINDS },
    'Settlements that have ended; those of kind `too_old`, `fault` and `dropped` are left to people.',
  ),
  creditsSettled: counter(
    'tollgate_credits_settled_total',
    {},
    'Credits that settlements took from balances.',
  ),
  settlementsShort: counter(
    'tollgate_settlements_short_total',
    {},
    'Settlements for which cap or balance had too little room.',
  ),
  creditsShort: counter(
    'tollgate_credits_short_total',
    {},
    'Credits that were not charged for want of room under cap or balance.',
  ),
  settleQueueDepth: gauge(
    'tollgate_settle_queue_depth',
    {},
    'sum',
    'Settlements on their way to Redis.',
  ),
  settleJournalDepth: gauge(
    'tollgate_settle_journal_depth',
    {},
    'sum',
    "Settlements in the node's journal that Redis has not taken.",
  ),
  booksIngesting: gauge(
    'tollgate_books_ingesting',
    {},
    'max',
    '1 on the node that fills the books.',
  ),
  booksLag: gauge(
    'tollgate_books_lag_seconds',
    {},
    'max',
    'Since the books had last everything that Redis has; absent where the node does not ingest.',
  ),
  booksWaiting: gauge(
    'tollgate_books_waiting_entries',
    {},
    'max',
    'Entries in Redis: what is not in the books, and the last ten minutes of what is.',
  ),
  booksGaps: gauge('tollgate_books_gaps', {}, 'max', 'Stretches of entries that the books lack.'),
  booksRepeats: gauge(
    'tollgate_books_repeats',
    {},
    'max',
    'Events that came to the books under two ids.',
  ),
  booksDrifts: gauge(
    'tollgate_books_drifts',
    {},
    'max',
    'What the last `tollgate ledger verify` found to disagree.',
  ),
  booksHoldsUnsettled: gauge(
    'tollgate_books_holds_unsettled',
    {},
    'max',
    'Holds that ran out and that nobody settled, by the last `tollgate ledger verify`.',
  ),
  booksVerifiedTime: gauge(
    'tollgate_books_verified_timestamp_seconds',
    {},
    'max',
    'When that was.',
  ),
  booksArchivedDays: gauge('tollgate_books_archived', {}, 'max', 'Days in the archive.'),
  booksDaysDue: gauge(
    'tollgate_books_due',
    {},
    'max',
    'Days that are older than `books.keep` and not in the archive; absent without one.',
  ),
  booksArchiveFailures: counter(
    'tollgate_books_archive_failures_total',
    {},
    'Runs of the archiver that left days in the books which are due.',
  ),
  booksSize: gauge('tollgate_books_size_bytes', {}, 'max', 'The size of the books on the disk.'),
  revocationSeconds: histogram(
    'tollgate_revocation_propagation_seconds',
    { subject: sets.CHANGE_SUBJECTS },
    PROPAGATION,
    'From the change in Redis that shuts a key or an account until a worker has heard of it.',
  ),
  upstreamTries: counter(
    'tollgate_upstream_tries_total',
    { upstream, result: sets.TRY_RESULTS },
    'Tries of upstreams that have ended.',
  ),
  upstreamRetries: counter(
    'tollgate_upstream_retries_total',
    { upstream },
    'Tries that were not the first of their request.',
  ),
  upstreamInFlight: gauge(
    'tollgate_upstream_in_flight',
    { upstream },
    'sum',
    'Requests that an upstream is at work on.',
  ),
  upstreamState: gauge(
    'tollgate_upstream_state',
    { upstream, state: sets.UPSTREAM_STATES },
    'sum',
    'How many workers have the breaker of an upstream in that state.',
  ),
  redisUp: gauge(
    'tollgate_redis_up',
    {},
    'min',
    '1 while every worker finds that Redis takes writes.',
  ),
  redisBreakersOpen: gauge(
    'tollgate_redis_breakers_open',
    {},
    'sum',
    'Breakers of workers that spare Redis at the moment.',
  ),
  redisMemoryUsed: gauge(
    'tollgate_redis_memory_used_ratio',
    {},
    'max',
    'Used share of `maxmemory`, of the master that is fullest; absent where there is no such limit.',
  ),
  redisSeconds: histogram(
    'tollgate_redis_command_duration_seconds',
    { connection: sets.REDIS_CONNECTIONS },
    STORE,
    'Commands of Redis that were answered.',
  ),
  redisErrors: counter(
    'tollgate_redis_errors_total',
    { connection: sets.REDIS_CONNECTIONS, kind: sets.REDIS_ERROR_KINDS },
    'Commands of Redis that failed.',
  ),
  workers: gauge('tollgate_workers', {}, 'sum', 'Workers that take or finish requests.'),
  workerRestarts: counter(
    'tollgate_worker_restarts_total',
    {},
    'Workers that ended by themselves and were replaced.',
  ),
  workersUnread: counter(
    'tollgate_workers_unread_total',
    {},
    'Workers that did not tell their metrics within a second of a scrape: their gauges are missing in it.',
  ),
  requestLogLinesDropped: counter(
    'tollgate_request_log_lines_dropped_total',
    {},
    'Lines of the request log that are missing, since they could not be written in time.',
  ),
  spansDropped: counter(
    'tollgate_spans_dropped_total',
    {},
    'Spans of requests that the collector did not take.',
  ),
  eventLoopLag: histogram(
    'tollgate_event_loop_lag_seconds',
    { process: sets.PROCESSES },
    LAG,
    'The longest delay of an event loop in each second.',
  ),
  memory: gauge(
    'tollgate_memory_bytes',
    { process: sets.PROCESSES, kind: sets.MEMORY_KINDS },
    'sum',
    'Memory of all processes of a kind together.',
  ),
  reloads: counter('tollgate_reloads_total', { result: sets.RELOAD_RESULTS }, 'SIGHUPs.'),
  configHash: gauge(
    'tollgate_config_hash',
    {},
    'max',
    'A number that is the same on nodes with the same settings, whatever their secrets.',
  ),
  members: gauge('tollgate_members', { state: sets.NODE_STATES }, 'max', 'Nodes of the fleet.'),
  memberVersions: gauge(
    'tollgate_member_versions',
    { of: sets.VERSIONED },
    'max',
    'How many different settings, catalogues and versions of the program the nodes that run have.',
  ),
  catalogueVersion: gauge(
    'tollgate_catalogue_version',
    {},
    'min',
    'The version of the catalogue that the node sells. Absent if the settings file rules.',
  ),
  catalogueRefused: gauge(
    'tollgate_catalogue_refused',
    {},
    'max',
    '1 while the node cannot sell the version that should hold, and sells an older one.',
  ),
  buildInfo: gauge(
    'tollgate_build_info',
    { version: 'versions', node: 'nodeVersions' },
    'max',
    'Always 1.',
  ),
} as const satisfies Record<string, MetricDeclaration>;
