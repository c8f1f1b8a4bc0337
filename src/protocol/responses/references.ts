import { Refusal } from '../refusals.ts';
import { isObject } from '../schema.ts';
import { kindOfItem } from './requests/request-schema.ts';

/** An item of a conversation as clients of this format write it. */
export type ResponseItem = Readonly<Record<string, unknown>>;

/** What a request says by naming it, not by repeating it. */
export interface ItemReferences {
  readonly itemIds: readonly string[];
  readonly previousResponseId: string | undefined;
}

export interface RecalledItems {
  /** By id; what is not there was not found. */
  readonly items: ReadonlyMap<string, ResponseItem>;
  /**
   * The input and the output of the previous response and of all before it, oldest first. Undefined
   * if one of them was not found.
   */
  readonly history: readonly ResponseItem[] | undefined;
}

/** An answer to which later requests may refer. */
export interface AnswerToKeep {
  readonly id: string;
  readonly previousId: string | undefined;
  /** The list of its items as JSON. */
  readonly output: string;
  /** The response as JSON, with an empty output. */
  readonly response: string;
}

/** Returns undefined if a body refers to nothing. The body may be anything. */
export function findReferences(body: unknown): ItemReferences | undefined {
  if (!isObject(body)) return undefined;
  const { previous_response_id: previous, input } = body;
  const previousResponseId = typeof previous === 'string' ? previous : undefined;
  const items: readonly unknown[] = Array.isArray(input) ? input : [];
  const itemIds = items.filter(isReference).map(({ id }) => id);
  if (previousResponseId === undefined && itemIds.length === 0) return undefined;
  return { itemIds, previousResponseId };
}

/** Puts what a body refers to in its place. */
export function resolveReferences(body: ResponseItem, recalled: RecalledItems): ResponseItem {
  const { previous_response_id: previous, input } = body;
  if (typeof previous === 'string' && recalled.history === undefined)
    throw refusePrevious(previous);
  const items: readonly unknown[] = Array.isArray(input) ? input : asItems(input);
  const own = items.map((item) => {
    if (!isReference(item)) return item;
    const found = recalled.items.get(item.id);
    if (found === undefined) throw refuseReference(item.id);
    return found;
  });
  return { ...body, input: [...(recalled.history ?? []), ...own] };
}

function asItems(input: unknown): readonly unknown[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : [];
}

function isReference(item: unknown): item is { readonly id: string } {
  return isObject(item) && typeof item['id'] === 'string' && kindOfItem(item) === 'item_reference';
}

export const ID_CHARS_SHOWN_MAX = 128;

/** Clients match on this text, and send the items themselves from then on. */
export function refuseReference(id: string): Refusal {
  const shown = id.slice(0, ID_CHARS_SHOWN_MAX);
  return new Refusal(
    'item_not_found',
    `Item with id '${shown}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    { param: 'input' },
  );
}

export function refusePrevious(id: string): Refusal {
  const shown = id.slice(0, ID_CHARS_SHOWN_MAX);
  return new Refusal(
    'previous_response_not_found',
    `Previous response with id '${shown}' not found. Send the whole conversation as \`input\` instead.`,
    { param: 'previous_response_id' },
  );
}
