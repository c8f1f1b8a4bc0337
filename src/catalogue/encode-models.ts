import { Refusal } from '../protocol/refusals.ts';
import type { Catalogue, Model, Price } from './catalogue.ts';
import { refuseUnknownModel } from './catalogue.ts';

const PAGE_ENTRIES_MAX = 1_000;

/** Returns the decoded value of a query parameter; `undefined` if it is missing. */
export type QuerySource = (name: string) => string | undefined;

/** A model or one of its aliases, in the shape that both families of clients read. */
interface ModelEntry {
  readonly id: string;
  readonly model: Model;
}

/**
 * `GET /v1/models`. Without a `limit` it is the whole list: exactly the names that requests may
 * use.
 */
export function encodeModelList(models: readonly Model[], query: QuerySource): string {
  return encodePage(models, query, describeEntry);
}

/**
 * Codex reads only what it finds under `models`, and asks with its version. Entries there would
 * replace its own instructions to the model, so there are none: it then knows enough.
 */
const FOR_CODEX = { models: [] };

/** `GET /v1/models/info`: the same entries with their prices. */
export function encodeModelInfo(models: readonly Model[], query: QuerySource): string {
  return encodePage(models, query, (entry) => ({
    ...describeEntry(entry),
    ...(entry.model.betaContextTokensMax !== undefined && {
      beta_context_length: entry.model.betaContextTokensMax,
    }),
    pricing: describePrice(entry.model.price),
  }));
}

/** `GET /v1/models/{id}`, for ids and aliases alike. */
export function encodeModel(catalogue: Catalogue, nameOrAlias: string): string {
  const model = catalogue.resolve(nameOrAlias);
  if (model === undefined) throw refuseUnknownModel(nameOrAlias);
  return JSON.stringify(describeEntry({ id: nameOrAlias, model }));
}

function encodePage(
  models: readonly Model[],
  query: QuerySource,
  describe: (entry: ModelEntry) => object,
): string {
  const { entries, hasMore } = takePage(listEntries(models), query);
  return JSON.stringify({
    object: 'list',
    data: entries.map(describe),
    has_more: hasMore,
    first_id: entries.at(0)?.id ?? null,
    last_id: entries.at(-1)?.id ?? null,
    ...(query('client_version') !== undefined && FOR_CODEX),
  });
}

function listEntries(models: readonly Model[]): ModelEntry[] {
  return [
    ...models.map((model) => ({ id: model.id, model })),
    ...models.flatMap((model) => model.aliases.map((id) => ({ id, model }))),
  ];
}

/**
 * Client libraries ask for the next page as long as `has_more` is true. It is true only if entries
 * are left in the direction of reading, and each page has at least one entry, so the reading ends.
 */
function takePage(
  all: readonly ModelEntry[],
  query: QuerySource,
): { readonly entries: readonly ModelEntry[]; readonly hasMore: boolean } {
  const limit = readLimit(query('limit')) ?? all.length;
  const after = findCursor(all, 'after_id', query);
  const before = findCursor(all, 'before_id', query);
  const range = all.slice(after === undefined ? 0 : after + 1, before);
  const isBackwards = before !== undefined && after === undefined;
  const entries = isBackwards
    ? range.slice(Math.max(0, range.length - limit))
    : range.slice(0, limit);
  return { entries, hasMore: entries.length < range.length };
}

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= PAGE_ENTRIES_MAX) return limit;
  throw new Refusal(
    'invalid_request',
    `limit: Input should be an integer from 1 to ${PAGE_ENTRIES_MAX}`,
    { param: 'limit' },
  );
}

/** An empty cursor counts as missing: libraries send it for a page without a last entry. */
function findCursor(
  all: readonly ModelEntry[],
  name: 'after_id' | 'before_id',
  query: QuerySource,
): number | undefined {
  const id = query(name);
  if (id === undefined || id === '') return undefined;
  const index = all.findIndex((entry) => entry.id === id);
  if (index >= 0) return index;
  throw new Refusal('invalid_request', `${name}: no model of this list has the id ${id}`, {
    param: name,
  });
}

function describeEntry({ id, model }: ModelEntry) {
  return {
    id,
    object: 'model',
    type: 'model',
    display_name: displayName(id),
    // The release date is not known; the native format says so with the epoch.
    created: 0,
    created_at: '1970-01-01T00:00:00Z',
    owned_by: 'tollgate',
    ...(id !== model.id && { alias_for: model.id }),
    context_length: model.contextTokensMax,
    max_input_tokens: model.contextTokensMax,
    ...(model.isEmbedding
      ? { embeddings: true }
      : { max_output_tokens: model.outputTokensMax, max_tokens: model.outputTokensMax }),
  };
}

function describePrice(price: Price) {
  return {
    input_credits_per_mtok: price.input,
    output_credits_per_mtok: price.output,
    cache_read_credits_per_mtok: price.cacheRead,
    cache_write_5m_credits_per_mtok: price.cacheWrite5m,
    cache_write_1h_credits_per_mtok: price.cacheWrite1h,
    ...(price.webSearch !== undefined && {
      web_search_credits_per_thousand: price.webSearch,
    }),
  };
}

/** Turns `llm-opus-4.7` into `Opus 4.7`. */
function displayName(id: string): string {
  const words = id.replace(/^llm-/, '').split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}
