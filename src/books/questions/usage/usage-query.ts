import type { BooksTables } from '../../engine/tables.ts';

/** In the order in which answers have them; their rows are sorted so. */
export const USAGE_GROUPS = [
  'day',
  'hour',
  'account',
  'key',
  'group',
  'end_user',
  'model',
  'upstream',
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** What usage can be restricted to. */
export const USAGE_FILTERS = ['account', 'key', 'group', 'end_user', 'model', 'upstream'] as const;

export interface UsageFilter
  extends Partial<Readonly<Record<(typeof USAGE_FILTERS)[number], string | undefined>>> {
  readonly fromMs?: number | undefined;
  /** The first moment that does not belong to it any more. */
  readonly toMs?: number | undefined;
}

/** Undefined fields do not matter. */
export interface UsageQuery extends UsageFilter {
  readonly by: readonly UsageGroup[];
  /** The largest charges first. */
  readonly order?: 'charged' | undefined;
  readonly limit?: number | undefined;
}

/** Where sums are: the entries themselves, or a rollup of them. */
export type UsageSource = keyof Pick<
  BooksTables,
  'entries' | 'usage_hours' | 'usage_days' | 'usage_months' | 'account_days' | 'fleet_hours'
>;

/** The columns that distinguish the rows of an answer: rows by key have their account too. */
export function columnsOf(by: readonly UsageGroup[]): readonly UsageGroup[] {
  const isAsked = new Set(by);
  return USAGE_GROUPS.filter(
    (group) => isAsked.has(group) || (group === 'account' && isAsked.has('key')),
  );
}
