import { z } from 'zod';
import { STATEMENT_FORMATS } from '../../books/questions/statements/statement-formats.ts';
import { USAGE_GROUPS } from '../../books/questions/usage/usage-query.ts';
import { filterText, filterTime, refuseReversed, rowLimit } from './query-fields.ts';

const GROUPS_MAX = 2;
const groupsError = `must be one or ${GROUPS_MAX} of ${USAGE_GROUPS.join(', ')}, with a comma between`;

const GROUPS_BY_DEFAULT = ['day'] as const;

const groups = z
  .string()
  .meta({ description: groupsError, default: GROUPS_BY_DEFAULT.join(',') })
  .transform((text) => text.split(','))
  .pipe(
    z
      .array(z.enum(USAGE_GROUPS, { error: groupsError }))
      .max(GROUPS_MAX, { error: groupsError })
      .refine((names) => new Set(names).size === names.length, { error: groupsError }),
  );

export const usageQuery = z
  .strictObject({
    by: groups.default([...GROUPS_BY_DEFAULT]),
    account: filterText.optional(),
    key: filterText.optional(),
    group: filterText.optional(),
    end_user: filterText.optional(),
    model: filterText.optional(),
    upstream: filterText.optional(),
    from: filterTime.optional(),
    to: filterTime.optional(),
    order: z.literal('charged', { error: 'must be charged' }).optional(),
    limit: rowLimit.optional(),
    format: z.enum(['json', 'csv'], { error: 'must be json or csv' }).default('json'),
  })
  .superRefine(refuseReversed('from', 'to'))
  .transform(({ from, to, ...query }) => ({ ...query, fromMs: from, toMs: to }));

export const statementFormat = z.strictObject({
  format: z
    .enum(['json', ...STATEMENT_FORMATS], { error: 'must be json, csv or html' })
    .default('json'),
});

const count = z.int();
const text = z.string().nullable();
const time = z.iso.datetime();
const sums = {
  ...{ requests: count, failed: count, estimated: count },
  ...{ charged: z.number(), short: z.number() },
  ...{ cost: z.number().nullable(), margin: z.number().nullable() },
  tokens: z.strictObject({
    ...{ input: count, cache_read: count, cache_write_5m: count, cache_write_1h: count },
    ...{ output: count, thinking: count },
  }),
  searches: count,
};
/** Which names a row has depends on the groups. */
const usageRow = z.strictObject({
  ...{ day: z.iso.date().optional(), hour: time.optional() },
  ...{ account: text.optional(), account_name: text.optional() },
  ...{ key: text.optional(), key_name: text.optional() },
  ...{ group: text.optional(), end_user: text.optional() },
  ...{ model: text.optional(), upstream: text.optional() },
  ...sums,
});

export const usageAnswer = z.strictObject({
  by: z.array(z.enum(USAGE_GROUPS)),
  ...{ account: text, key: text, group: text, end_user: text, model: text, upstream: text },
  ...{ from: time.nullable(), to: time.nullable() },
  data: z.array(usageRow),
  total: z.strictObject(sums),
  paid: z.number().nullable(),
  books_until: time.nullable(),
});

export const statementAnswer = z.strictObject({
  ...{ account: z.string(), account_name: text, month: z.string() },
  ...{ opening_balance: z.number(), closing_balance: z.number() },
  is_closed: z.boolean(),
  incomplete: z.strictObject({ gaps: count, damaged_lines: count }).nullable(),
  payments: z.array(
    z.strictObject({
      ...{ time, id: z.string(), kind: z.string() },
      ...{ amount: z.number(), note: text, balance: z.number() },
    }),
  ),
  ...{ paid: z.number(), charged: z.number() },
  ...{ by_model: z.array(usageRow), by_key: z.array(usageRow) },
  total: z.strictObject(sums),
  books_until: time.nullable(),
});
