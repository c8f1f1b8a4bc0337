import { Refusal } from '../../refusals.ts';
import type { ResponseItem } from '../references.ts';

const LIMIT_USUAL = 20;
const LIMIT_MAX = 100;

/** Returns the decoded value of a query parameter; `undefined` if it is missing. */
type QuerySource = (name: string) => string | undefined;

/**
 * One page of what a response was asked. Clients page by ids, so each item has one of its own,
 * whatever its client called it.
 */
export function encodeInputItems(
  responseId: string,
  input: readonly ResponseItem[],
  query: QuerySource,
) {
  const ids = new Set(['']);
  const named = input.map((item, index) => {
    const { id: given, type } = item;
    const isUsable = typeof given === 'string' && !ids.has(given);
    const id = isUsable ? given : `item_${responseId.replace(/^resp_/, '')}_${index}`;
    ids.add(id);
    return { ...item, type: type ?? 'message', id, ...writeContent(item) };
  });
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

/** Clients read the content of a message as a list. */
function writeContent({ role, content: text }: ResponseItem) {
  if (typeof text !== 'string') return undefined;
  if (role === 'assistant') return { content: [{ type: 'output_text', text, annotations: [] }] };
  return { content: [{ type: 'input_text', text }] };
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
