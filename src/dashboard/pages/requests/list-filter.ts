import type { Query } from '../../api/api-types.ts';

const FILTER_NAMES = [
  ...(['account', 'key', 'group', 'end_user'] as const),
  ...(['model', 'upstream', 'status', 'outcome'] as const),
  ...(['last', 'from', 'to'] as const),
  ...(['charged_min', 'charged_max', 'duration_min', 'duration_max'] as const),
] as const;

export type FilterName = (typeof FILTER_NAMES)[number];

/**
 * Which requests are listed, as it stands in the address. `last` is a time until now, such as
 * `24h`; the other names are those of the admin API.
 */
export type ListFilter = Readonly<Partial<Record<FilterName, string>>>;

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** Reads what follows the `?` of an address. */
export function parseFilter(query: string): ListFilter {
  const given = new URLSearchParams(query);
  return Object.fromEntries(
    FILTER_NAMES.map((name) => [name, given.get(name) ?? '']).filter(([, value]) => value !== ''),
  );
}

/** The place of the list, with the receipt of a request beside it if there is an id. */
export function placeOfList(filter: ListFilter, id = ''): string {
  const query = new URLSearchParams();
  for (const name of FILTER_NAMES) {
    const value = filter[name] ?? '';
    if (value !== '') query.append(name, value);
  }
  const path = id === '' ? '/requests' : `/requests/${encodeURIComponent(id)}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

export function countFilters(filter: ListFilter): number {
  return Object.keys(filter).length;
}

/** The question for the admin API, which knows no times relative to now. */
export function toQuery({ last, ...filter }: ListFilter, nowMs: number): Query {
  const [, count = '', unit = ''] = /^(\d{1,4})([hd])$/.exec(last ?? '') ?? [];
  const lengthMs = Number(count) * (UNIT_MS[unit] ?? 0);
  return lengthMs === 0 ? filter : { ...filter, from: new Date(nowMs - lengthMs).toISOString() };
}
