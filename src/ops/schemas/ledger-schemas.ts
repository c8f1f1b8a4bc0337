import { z } from 'zod';
import { USAGE_GROUPS } from '../../ledger/usage-group.ts';

const timeError = 'must be a time such as 2027-01-31T00:00:00Z, or a day';
/** A day without a time means its beginning in UTC. */
const time = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], { error: timeError })
  .transform((value) => Date.parse(value));

const filter = z.strictObject({
  account: z.string().optional(),
  key: z.string().optional(),
  from: time.optional(),
  to: time.optional(),
});

const groupError = `must be one of ${USAGE_GROUPS.join(', ')}`;

interface Filter {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const readFilter = ({ account, key, from, to }: Filter) => ({
  account,
  key,
  fromMs: from,
  toMs: to,
});

export const ledgerQuery = filter.transform(readFilter);

export const usageQuery = filter
  .extend({ by: z.enum(USAGE_GROUPS, { error: groupError }).default('day') })
  .transform(({ by, ...rest }) => ({ ...readFilter(rest), by }));
