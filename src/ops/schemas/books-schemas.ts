import { z } from 'zod';
import { REFUSAL_GROUPS } from '../../books/questions/refusal-groups.ts';
import {
  choiceOf,
  creditsText,
  filterText,
  filterTime,
  pageLimit,
  refuseReversed,
  wholeText,
} from './query-fields.ts';

const PAGE = 50;
const DURATION_MAX_MS = 1e12;

const KINDS = ['charge', 'release', 'late', 'orphan', 'expired', 'refused'] as const;
const OUTCOMES = ['complete', 'failed', 'undelivered', 'left', 'refused'] as const;

const statusError = 'must be a status such as 429, or a class such as 4xx';
const status = z
  .string()
  .regex(/^[1-5](\d\d|xx)$/, { error: statusError })
  .transform((text) => ({
    min: Number(text.replace('xx', '00')),
    max: Number(text.replace('xx', '99')),
  }));

const duration = wholeText(DURATION_MAX_MS, ' of milliseconds');

const subject = {
  account: filterText.optional(),
  key: filterText.optional(),
  from: filterTime.optional(),
  to: filterTime.optional(),
};

export const requestsQuery = z
  .strictObject({
    ...subject,
    group: filterText.optional(),
    end_user: filterText.optional(),
    model: filterText.optional(),
    upstream: filterText.optional(),
    status: status.optional(),
    outcome: choiceOf(OUTCOMES).optional(),
    kind: choiceOf(KINDS).optional(),
    charged_min: creditsText.optional(),
    charged_max: creditsText.optional(),
    duration_min: duration.optional(),
    duration_max: duration.optional(),
    limit: pageLimit(PAGE),
    before: z.string().optional(),
  })
  .superRefine(refuseReversed('from', 'to'))
  .superRefine(refuseReversed('charged_min', 'charged_max'))
  .superRefine(refuseReversed('duration_min', 'duration_max'))
  .transform(({ from, to, charged_min, charged_max, duration_min, duration_max, ...rest }) => ({
    ...rest,
    ...{ fromMs: from, toMs: to },
    ...((charged_min ?? charged_max) !== undefined && {
      chargedMicros: { min: charged_min, max: charged_max },
    }),
    ...((duration_min ?? duration_max) !== undefined && {
      durationMs: { min: duration_min, max: duration_max },
    }),
  }));

export const entriesQuery = z
  .strictObject(subject)
  .superRefine(refuseReversed('from', 'to'))
  .transform(({ from, to, ...rest }) => ({ ...rest, fromMs: from, toMs: to }));

export const refusalsQuery = z
  .strictObject({ ...subject, by: choiceOf(REFUSAL_GROUPS).default('refusal') })
  .superRefine(refuseReversed('from', 'to'))
  .transform(({ from, to, ...rest }) => ({ ...rest, fromMs: from, toMs: to }));

const count = z.int().min(0);
const time = z.iso.datetime();
const text = z.string().nullable();

const tokens = { input: count, cache_read: count, cache_write_5m: count, cache_write_1h: count };

const ledgerEntry = z.strictObject({
  ...{ bucket: count, id: z.string(), time, kind: z.string() },
  ...{ request: z.string(), account: z.string(), key: text, model: text, month: text },
  ...{ held_micros: z.int(), charged_micros: z.int(), short_micros: z.int() },
  balance_micros: z.int(),
  usage: z
    .strictObject({
      ...{ ...tokens, output: count, thinking: count },
      ...{ searches: count, estimated: z.boolean() },
    })
    .nullable(),
  ...{ note: text, details: text, group: text, end_user: text, upstream: text },
  ...{ status: z.int().nullable(), outcome: text, refusal: text },
  ...{ streamed: z.boolean().nullable(), cost_micros: z.int().nullable() },
  ...{ started_at: time.nullable(), first_event_ms: z.number().nullable() },
  total_ms: z.number().nullable(),
});
/** The last line, if some are missing. */
const ledgerEnd = z.strictObject({
  incomplete: z.strictObject({
    ...{ gaps: count, damaged_lines: count, doubtful: count, archived_days: count },
    archived_until: z.iso.date().nullable(),
  }),
});
export const ledgerLineAnswer = z.union([ledgerEntry, ledgerEnd]);

export const requestsAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      ...{ id: z.string(), time },
      ...{ account: z.string(), account_name: text, key: z.string(), key_name: text },
      ...{ model: z.string(), upstream: text, kind: z.enum(KINDS) },
      ...{ status: z.int().nullable(), outcome: text, refusal: text },
      streamed: z.boolean().nullable(),
      tokens: z.strictObject({ ...tokens, output: count, thinking: count }).nullable(),
      ...{ searches: count, estimated: z.boolean().nullable() },
      ...{ held: z.number(), charged: z.number(), short: z.number(), cost: z.number().nullable() },
      ...{ started_at: time.nullable(), first_event_ms: z.number().nullable() },
      total_ms: z.number().nullable(),
    }),
  ),
  next: text,
  looked_back_to: time.nullable(),
  books_until: time.nullable(),
});

export const refusalsAnswer = z.strictObject({
  by: z.enum(REFUSAL_GROUPS),
  ...{ from: time.nullable(), to: time.nullable() },
  data: z.array(
    z.strictObject({
      refusal: z.string().optional(),
      ...{ account: text.optional(), account_name: text.optional() },
      ...{ key: text.optional(), key_name: text.optional() },
      ...{ hour: time.optional(), day: z.iso.date().optional(), minute: time.optional() },
      count,
    }),
  ),
  total: count,
  books_until: time.nullable(),
});

export const booksAnswer = z.strictObject({
  engine: z.enum(['libsql', 'postgres']),
  id: z.string(),
  schema: count,
  books_until: time.nullable(),
  ingesting_node: text,
  waiting_entries: count.nullable(),
  entries: count,
  days: z.strictObject({
    ...{ open: count, closed: count, archived: count },
    ...{ first: z.iso.date().nullable(), last: z.iso.date().nullable() },
  }),
  size_bytes: count,
  keep_days: z.number(),
  archive: text,
  ...{ gaps: count, repeats: count, doubtful: count },
  verified_at: time.nullable(),
  drifts: count.nullable(),
});
