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
    'From the head of a request to the end of its answer.',
    { route, model },
  ),
  overheadSeconds: histogram(
    'tollgate_gateway_overhead_seconds',
    FAST,
    'What the gateway itself took of a request: neither upstream nor client was waited for. Of a stream, up to its first event.',
    { route },
  ),
  firstEventSeconds: histogram(
    'tollgate_time_to_first_token_seconds',
    SLOW,
    'From the head of a request to the first event of its upstream.',
    { route, model },
  ),
  tokens: counter('tollgate_tokens_total', 'Tokens that were billed; output includes thinking.', {
    model,
    kind: sets.TOKEN_KINDS,
  }),
  searches: counter('tollgate_searches_total', 'Searches of the web that were billed.', { model }),
  creditsCharged: counter(
    'tollgate_credits_charged_total',
    'Credits that answers cost, before cap and balance cut them.',
    { model },
  ),
  usageMissing: counter(
    'tollgate_usage_missing_total',
    'Answers with text for which the upstream told no usage, or none of the output.',
    { model },
  ),
  usageEstimated: counter(
    'tollgate_usage_estimated_total',
    'Answers billed by what was delivered, since nobody had counted.',
    { model },
  ),
  usageImplausible: counter(
    'tollgate_usage_implausible_total',
    'Answers whose upstream told more tokens than there can have been; they are billed for what was asked at most.',
    { upstream, model },
  ),
  answersKept: counter(
    'tollgate_answers_kept_total',
    'Answers that clients wanted to be kept, by what became of that.',
    { outcome: sets.KEPT_OUTCOMES },
  ),
  keptBytes: gauge(
    'tollgate_answers_kept_bytes',
    'max',
    'What kept answers take up in Redis, as far as one worker has seen it.',
  ),
  answersDraining: gauge(
    'tollgate_answers_draining',
    'sum',
    'Answers that are read on for their usage, since their clients have left.',
  ),
  exchangesActive: gauge('tollgate_exchanges_active', 'sum', 'Requests of any kind that run.'),
  streamsActive: gauge('tollgate_streams_active', 'sum', 'Streams that run.'),
  streamsAborted: counter(
    'tollgate_streams_aborted_total',
    'Streams that had begun and did not come to their end.',
    { reason: sets.STREAM_ABORT_REASONS },
  ),
  proxyDoubts: counter(
    'tollgate_trusted_proxies_doubts_total',
    'Requests with good keys that show `guards.trusted_proxies` to be too low or too high.',
    { doubt: sets.PROXY_DOUBTS },
  ),
  admissions: counter(
    'tollgate_admissions_total',
    'What became of requests that asked to be admitted.',
    { outcome: sets.ADMISSION_OUTCOMES },
  ),
  admissionSeconds: histogram(
    'tollgate_admission_seconds',
    STORE,
    'How long admissions took, with all attempts.',
  ),
  holdsActive: gauge('tollgate_holds_active', 'sum', 'Holds that this node keeps.'),
  holdsSwept: counter(
    'tollgate_holds_swept_total',
    'Holds whose lease ran out and that this node ended.',
  ),
  creditsSwept: counter('tollgate_credits_swept_total', 'Credits charged for swept holds.'),
  sweepBuckets: gauge('tollgate_sweep_buckets', 'sum', 'Buckets that this node sweeps.'),
  settlements: counter(
    'tollgate_settlements_total',
    'Settlements that have ended; those of kind `too_old`, `fault` and `dropped` are left to people.',
    { kind: sets.SETTLE_KINDS },
  ),
  creditsSettled: counter(
    'tollgate_credits_settled_total',
    'Credits that settlements took from balances.',
  ),
  settlementsShort: counter(
    'tollgate_settlements_short_total',
    'Settlements for which cap or balance had too little room.',
  ),
  creditsShort: counter(
    'tollgate_credits_short_total',
    'Credits that were not charged for want of room under cap or balance.',
  ),
  settleQueueDepth: gauge(
    'tollgate_settle_queue_depth',
    'sum',
    'Settlements on their way to Redis.',
  ),
  settleJournalDepth: gauge(
    'tollgate_settle_journal_depth',
    'sum',
    "Settlements in the node's journal that Redis has not taken.",
  ),
  unsettledSize: gauge('tollgate_unsettled_bytes', 'sum', 'The size of `unsettled.ndjson`.'),
  booksIngesting: gauge('tollgate_books_ingesting', 'max', '1 on the node that fills the books.'),
  booksLag: gauge(
    'tollgate_books_lag_seconds',
    'max',
    'Since the books had last everything that Redis has; each node tells it, whichever fills them.',
  ),
  booksWaiting: gauge(
    'tollgate_books_waiting_entries',
    'max',
    'Entries in Redis: what is not in the books, and the last ten minutes of what is.',
  ),
  booksGaps: gauge('tollgate_books_gaps', 'max', 'Stretches of entries that the books lack.'),
  booksRepeats: gauge('tollgate_books_repeats', 'max', 'Events that came under two ids.'),
  booksDoubtful: gauge(
    'tollgate_books_doubtful',
    'max',
    'Late entries that wait to be compared with the archive, and do not count yet.',
  ),
  booksDrifts: gauge(
    'tollgate_books_drifts',
    'max',
    'What the last `tollgate ledger verify` found to disagree, without what is accepted.',
  ),
  booksHoldsUnsettled: gauge(
    'tollgate_books_holds_unsettled',
    'max',
    'Holds that ran out and that nobody settled, by the last `tollgate ledger verify`; 0 before it.',
  ),
  booksVerifiedTime: gauge('tollgate_books_verified_timestamp_seconds', 'max', 'When that was.'),
  booksArchivedDays: gauge('tollgate_books_archived', 'max', 'Days in the archive.'),
  booksDaysDue: gauge(
    'tollgate_books_due',
    'max',
    'Days that are older than `books.keep` and not in the archive; absent without one.',
  ),
  booksArchiveFailures: counter(
    'tollgate_books_archive_failures_total',
    'Runs of the archiver that left days in the books which are due.',
  ),
  booksSize: gauge('tollgate_books_size_bytes', 'max', 'The size of the books on the disk.'),
  revocationSeconds: histogram(
    'tollgate_revocation_propagation_seconds',
    PROPAGATION,
    'From the change in Redis that shuts a key or an account until a worker has heard of it.',
    { subject: sets.CHANGE_SUBJECTS },
  ),
  limitEvents: counter(
    'tollgate_limit_events_total',
    'Events of limits and balances that this node has brought into the list, by what has the limit.',
    { type: sets.LIMIT_EVENTS, level: sets.LIMIT_LEVELS },
  ),
  limitEventsLost: counter(
    'tollgate_limit_events_lost_total',
    'Events that a bucket with 1,000 of them had no room for before a node took them out; nobody is told of them.',
  ),
  webhookEvents: counter(
    'tollgate_webhook_events_total',
    'Attempts to tell webhooks of events; those that are `dropped` or `lost` are told to nobody.',
    { result: sets.WEBHOOK_RESULTS },
  ),
  webhooksWaiting: gauge(
    'tollgate_webhook_events_waiting',
    'sum',
    'Events that wait for webhooks on the node that tells them, as far as it has read the list.',
  ),
  webhooksFailing: gauge('tollgate_webhooks_failing', 'sum', 'Webhooks whose last attempt failed.'),
  webhookFailingSeconds: gauge(
    'tollgate_webhook_failing_seconds',
    'max',
    'How long the webhook that has failed for longest has failed; 0 if none does.',
  ),
  upstreamTries: counter('tollgate_upstream_tries_total', 'Tries of upstreams that have ended.', {
    upstream,
    result: sets.TRY_RESULTS,
  }),
  upstreamRetries: counter(
    'tollgate_upstream_retries_total',
    'Tries that were not the first of their request.',
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
    'Workers, without draining ones, whose breaker of the upstream is in that state.',
    { upstream, state: sets.UPSTREAM_STATES },
  ),
  redisUp: gauge('tollgate_redis_up', 'min', '1 while every worker finds that Redis takes writes.'),
  redisBreakersOpen: gauge(
    'tollgate_redis_breakers_open',
    'sum',
    'Breakers of workers that spare Redis at the moment.',
  ),
  redisMemoryUsed: gauge(
    'tollgate_redis_memory_used_ratio',
    'max',
    'Used share of `maxmemory`, of the master that is fullest; absent where there is no such limit.',
  ),
  redisSeconds: histogram(
    'tollgate_redis_command_duration_seconds',
    STORE,
    'Commands of Redis that were answered.',
    { connection: sets.REDIS_CONNECTIONS },
  ),
  redisErrors: counter('tollgate_redis_errors_total', 'Commands of Redis that failed.', {
    connection: sets.REDIS_CONNECTIONS,
    kind: sets.REDIS_ERROR_KINDS,
  }),
  workers: gauge('tollgate_workers', 'sum', 'Workers that take or finish requests.'),
  workerRestarts: counter('tollgate_worker_restarts_total', 'Workers that died and were replaced.'),
  workersUnread: counter(
    'tollgate_workers_unread_total',
    'Workers that did not tell their metrics within a second of a scrape: their gauges are missing in it.',
  ),
  requestLogLinesDropped: counter(
    'tollgate_request_log_lines_dropped_total',
    'Lines of the request log that are missing, since they could not be written in time.',
  ),
  spansDropped: counter('tollgate_spans_dropped_total', 'Spans that the collector did not take.'),
  eventLoopLag: histogram(
    'tollgate_event_loop_lag_seconds',
    LAG,
    'The longest delay of an event loop in each second.',
    { process: sets.PROCESSES },
  ),
  memory: gauge('tollgate_memory_bytes', 'sum', 'Memory of all processes of a kind together.', {
    process: sets.PROCESSES,
    kind: sets.MEMORY_KINDS,
  }),
  adminCalls: counter(
    'tollgate_admin_calls_total',
    'Calls of the admin API, by who called and whether they were let in; `unavailable`: Redis could not be asked.',
    { by: sets.CALLERS, outcome: sets.CALL_OUTCOMES },
  ),
  signIns: counter('tollgate_sign_ins_total', 'Sign-ins by OpenID.', { result: sets.SIGN_INS }),
  reloads: counter('tollgate_reloads_total', 'Reloads.', { result: sets.RELOAD_RESULTS }),
  configHash: gauge(
    'tollgate_config_hash',
    'max',
    'The same on nodes with the same settings but for secrets, addresses, folder and workers.',
  ),
  members: gauge('tollgate_members', 'max', 'Nodes of the fleet.', { state: sets.NODE_STATES }),
  memberVersions: gauge(
    'tollgate_member_versions',
    'max',
    'How many different settings, catalogues and versions of the program the nodes that run have.',
    { of: sets.VERSIONED },
  ),
  catalogueVersion: gauge(
    'tollgate_catalogue_version',
    'min',
    'The version of the catalogue that the node sells. Absent if the settings file rules.',
  ),
  catalogueRefused: gauge(
    'tollgate_catalogue_refused',
    'max',
    '1 while the node cannot sell the version that should hold, and sells an older one.',
  ),
  buildInfo: gauge('tollgate_build_info', 'max', 'Always 1.', {
    version: 'versions',
    node: 'nodeVersions',
  }),
} as const satisfies Record<string, MetricDeclaration>;
