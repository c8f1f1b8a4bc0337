import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalogue } from '../../../src/catalogue/catalogue.ts';
import {
  encodeModel,
  encodeModelInfo,
  encodeModelList,
} from '../../../src/catalogue/encode-models.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { MODELS } from './models.ts';

interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

const list = (query: Readonly<Record<string, string>> = {}) =>
  JSON.parse(encodeModelList(MODELS, (name) => query[name])) as Page;
const ids = (page: Page) => page.data.map(({ id }) => id);

function readAll(
  first: Readonly<Record<string, string>>,
  nextOf: (page: Page) => Readonly<Record<string, string>>,
): unknown[] {
  const seen: unknown[] = [];
  let page = list(first);
  for (let pages = 1; pages <= ALL.length; pages++) {
    seen.push(...ids(page));
    if (!page.has_more) return seen;
    page = list(nextOf(page));
  }
  throw new Error('the pages have no end');
}

const ALL = ['llm-opus-4.7', 'llm-sonnet-4.6', 'llm-haiku-4.5', 'opus', 'sonnet', 'haiku'];

describe('createCatalogue', () => {
  const catalogue = createCatalogue(MODELS);

  it('resolves ids and aliases to the pinned model', () => {
    expect(catalogue.resolve('sonnet')?.id).toBe('llm-sonnet-4.6');
    expect(catalogue.resolve('llm-sonnet-4.6')?.id).toBe('llm-sonnet-4.6');
    expect(catalogue.list()).toEqual(MODELS);
  });

  it('knows no other name, however objects are made', () => {
    for (const name of ['', 'Opus', 'llm-opus', '__proto__', 'constructor']) {
      expect(catalogue.resolve(name), name).toBeUndefined();
    }
  });
});

describe('the list of models', () => {
  it('holds every name that a request may use, aliases apart', () => {
    const page = list();
    expect(page).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: 'llm-opus-4.7',
      last_id: 'haiku',
    });
    expect(ids(page)).toEqual(ALL);
    expect(page.data[0]).toEqual({
      id: 'llm-opus-4.7',
      object: 'model',
      type: 'model',
      display_name: 'Opus 4.7',
      created: 0,
      created_at: '1970-01-01T00:00:00Z',
      owned_by: 'tollgate',
      context_length: 200_000,
      max_output_tokens: 32_000,
      max_input_tokens: 200_000,
      max_tokens: 32_000,
    });
    expect(page.data.map(({ alias_for }) => alias_for)).toEqual([
      undefined,
      undefined,
      undefined,
      'llm-opus-4.7',
      'llm-sonnet-4.6',
      'llm-haiku-4.5',
    ]);
  });

  it('obeys its cursors', () => {
    expect(list({ limit: '2' })).toMatchObject({ has_more: true, last_id: 'llm-sonnet-4.6' });
    expect(ids(list({ after_id: 'llm-haiku-4.5', limit: '2' }))).toEqual(['opus', 'sonnet']);
    expect(ids(list({ before_id: 'opus', limit: '2' }))).toEqual([
      'llm-sonnet-4.6',
      'llm-haiku-4.5',
    ]);
    expect(ids(list({ after_id: 'llm-opus-4.7', before_id: 'opus' }))).toEqual([
      'llm-sonnet-4.6',
      'llm-haiku-4.5',
    ]);
    expect(list({ after_id: 'haiku' })).toMatchObject({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
    expect(ids(list({ after_id: '', limit: '1000' }))).toEqual(ALL);
  });

  it('comes to an end in both directions, each entry once, whatever the size of the pages', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), (size) => {
        const limit = String(size);
        expect(readAll({ limit }, ({ last_id }) => ({ limit, after_id: last_id ?? '' }))).toEqual(
          ALL,
        );
        const backwards = readAll({ limit, before_id: 'haiku' }, ({ first_id }) => ({
          limit,
          before_id: first_id ?? '',
        }));
        expect(backwards.toSorted()).toEqual(ALL.slice(0, -1).toSorted());
      }),
    );
  });

  it.each([
    { limit: '0' },
    { limit: '1001' },
    { limit: '-1' },
    { limit: '1.5' },
    { limit: 'x' },
    { limit: '' },
    { after_id: 'gone' },
    { before_id: 'gone' },
  ])('refuses %j by name', (query) => {
    const [name = ''] = Object.keys(query);
    expect(() => list(query as Record<string, string>)).toThrow(
      expect.objectContaining({ refusal: 'invalid_request', param: name }),
    );
  });
});

describe('the entry of one model', () => {
  const catalogue = createCatalogue(MODELS);

  it('is the one of the list', () => {
    for (const entry of list().data) {
      expect(JSON.parse(encodeModel(catalogue, String(entry['id'])))).toEqual(entry);
    }
  });

  it('is refused for other names, in the words of each family of clients', () => {
    expect(() => encodeModel(catalogue, 'gone')).toThrow(Refusal);
    expect(() => encodeModel(catalogue, 'gone')).toThrow(
      expect.objectContaining({
        refusal: 'unknown_model',
        message: 'model: gone',
        chatMessage: 'The model `gone` does not exist or you do not have access to it.',
      }),
    );
  });
});

describe('the models with their prices', () => {
  it('are the entries of the list, with credits per million tokens', () => {
    const info = JSON.parse(encodeModelInfo(MODELS, () => undefined)) as Page;
    expect(ids(info)).toEqual(ALL);
    expect(info.data[3]).toEqual({
      ...list().data[3],
      beta_context_length: 1_000_000,
      pricing: {
        input_credits_per_mtok: 5,
        output_credits_per_mtok: 25,
        cache_read_credits_per_mtok: 0.5,
        cache_write_5m_credits_per_mtok: 6.25,
        cache_write_1h_credits_per_mtok: 10,
      },
    });
    expect(info.data[1]).not.toHaveProperty('beta_context_length');
  });
});
