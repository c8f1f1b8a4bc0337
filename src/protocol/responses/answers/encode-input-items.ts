import { Refusal } from '../../refusals.ts';
import type { ResponseItem } from '../references.ts';

const LIMIT_USUAL = 20;
const LIMIT_MAX = 100;

/** Returns the decoded value of a query parameter; `undefined` if it is missing. */
type QuerySource = (name: string) => string | undefined;

/** One page of what a response was asked. Clients page by ids, so each item has one. */
export function encodeInputItems(
  responseId: string,
  input: readonly ResponseItem[],
  query: QuerySource,
) {
  const named = input.map((item, index) => ({
    ...item,
    type: item['type'] ?? 'message',
    id: item['id'] ?? `item_${responseId.replace(/^resp_/, '')}_${index}`,
  }));
  const ordered = query('order') === 'asc' ? named : named.toReversed();
  const after = query('after');
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (start === 0 && after !== undefined) throw refuse('after', 'no item has this id');
  const limit = readLimit(query('limit'));
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  };
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT_USUAL;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw refuse('limit', `Input should be an integer from 1 to ${LIMIT_MAX}`);
}

function refuse(param: string, message: string): Refusal {
  return new Refusal('invalid_request', `Invalid value for '${param}': ${message}.`, { param });
}
