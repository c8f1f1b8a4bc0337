import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FileBounds } from '../../../src/catalogue/count-files.ts';
import { boundInput } from '../../../src/catalogue/estimate-hold.ts';
import { estimateTokens } from '../../../src/catalogue/estimate-tokens.ts';
import { readRequest } from '../../../src/gateway/read-request.ts';
import { nativeFormat } from '../../../src/protocol/native/native-format.ts';
import { longTexts } from '../long-texts.ts';
import { FILE_BOUNDS as DEFAULT_BOUNDS } from './models.ts';

const FILE_BOUNDS: FileBounds = { ...DEFAULT_BOUNDS, fileTokens: 'window' };
const WINDOW = 200_000;
const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);

type Read = 'whole' | 'abridged';

/** The upper bound for the input of a request, as the gateway reads it. */
function bound(body: object, read?: Read, bounds?: FileBounds): number {
  return boundOf(body, read, bounds).tokensMax;
}

function boundOf(body: object, read: Read = 'whole', bounds = FILE_BOUNDS) {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, ...body }));
  const { request, source } = readRequest(bytes, nativeFormat, header, read === 'abridged');
  const estimate = estimateTokens(request, 3, source);
  expect(estimate.least).toBeLessThanOrEqual(estimate.likely);
  expect(estimate.likely + estimate.unsure).toBeLessThanOrEqual(estimate.most);
  return boundInput(estimate, { files: bounds, windowTokens: WINDOW, searchesMax: 0 });
}

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more });
const PDF = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
const IMAGE = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
const LINK = { type: 'url', url: 'https://example.com/a' };
const FILE = { type: 'file', file_id: 'file_1' };
const text = (said: string, more: object = {}) => ({ type: 'text', text: said, ...more });

/** A tool result after its call. */
const withResult = (content: unknown, more: object = {}) => ({
  messages: [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content, ...more }] },
  ],
});

/** Every place where a client can put text that goes to an upstream. */
const PLACES: Readonly<Record<string, (said: string) => object>> = {
  'a message': (said) => ({ messages: [{ role: 'user', content: said }] }),
  'a text block': (said) => user(text(said)),
  'a field of a message': (said) => ({ messages: [{ role: 'user', content: 'Hi', note: said }] }),
  'a field of a text block': (said) => user(text('Hi', { of_tomorrow: { deep: [said] } })),
  'a citation': (said) => user(text('Hi', { citations: [{ type: 'x', cited_text: said }] })),
  'the system prompt': (said) => ({ ...user(text('Hi')), system: said }),
  'a system block': (said) => ({ ...user(text('Hi')), system: [text(said)] }),
  'a tool': (said) => ({
    ...user(text('Hi')),
    tools: [{ name: 'a', description: said, input_schema: { type: 'object' } }],
  }),
  'a schema of a tool': (said) => ({
    ...user(text('Hi')),
    tools: [{ name: 'a', input_schema: { type: 'object', note: said } }],
  }),
  'an example of a tool': (said) => ({
    ...user(text('Hi')),
    tools: [{ name: 'a', input_schema: { type: 'object' }, input_examples: [{ a: said }] }],
  }),
  'a tool of a vendor': (said) => ({
    ...user(text('Hi')),
    tools: [{ type: 'memory_20250818', name: 'memory', allowed_domains: [said] }],
  }),
  'the input of a call': (said) => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: { said } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] },
    ],
  }),
  'a result': (said) => withResult(said),
  'a block of a result': (said) => withResult([text(said)]),
  'a field of a result': (said) => withResult('Seen', { note: said }),
  'a field of a block of a result': (said) => withResult([text('Seen', { note: said })]),
  'a thought': (said) =>
    user({ type: 'thinking', thinking: said, signature: 'c2ln' }, text('Well')),
  'a signature': (said) =>
    user({ type: 'thinking', thinking: 'Hm', signature: said }, text('Well')),
  'hidden thoughts': (said) => user({ type: 'redacted_thinking', data: said }, text('Well')),
  'the context of a PDF': (said) => user(document(PDF, { context: said })),
  'the context of a linked document': (said) => user(document(LINK, { context: said })),
  'the context of a file': (said) => user(document(FILE, { context: said })),
  'a field of a linked document': (said) => user(document(LINK, { citations: { note: said } })),
  'a field of an image': (said) => user({ type: 'image', source: IMAGE, caption: said }),
  'the source of an image': (said) => user({ type: 'image', source: { ...LINK, note: said } }),
  'a document': (said) =>
    user(document({ type: 'text', media_type: 'text/plain', data: said }, { file_id: 'x' })),
  'a document of blocks': (said) => user(document({ type: 'content', content: [text(said)] })),
  'a document in a result': (said) => withResult([document(LINK, { context: said })]),
  'a search result': (said) =>
    user({ type: 'search_result', source: said, title: 'a', content: [text('b')] }),
  'a cache marker': (said) =>
    user(text('Hi', { cache_control: { type: 'ephemeral', note: said } })),
  'the kind of a block': (said) => withResult([{ type: said, file_id: 'file_1' }]),
  'the kind of a source': (said) =>
    user({ type: 'tomorrow', inner: { type: 'image', source: { type: said } } }),
  'a block of tomorrow': (said) => user({ type: 'tomorrow', what: { is: said }, file_id: 'x' }),
  'a source of tomorrow': (said) => user({ type: 'tomorrow', source: said, file_id: 'x' }),
  'a field of tomorrow': (said) => ({ ...user(text('Hi')), of_tomorrow: [said] }),
};

describe('what a request can have at most', () => {
  it.each(Object.keys(PLACES))('grows with every text in %s, be it read or not', (place) => {
    const write = PLACES[place] ?? (() => ({}));
    fc.assert(
      fc.property(longTexts, fc.nat(3_000), (said, length) => {
        // A blank text is refused.
        const more = `${said}.${'.'.repeat(length)}`;
        for (const read of ['whole', 'abridged'] as const) {
          const grown = bound(write(more), read) - bound(write('a.'), read);
          expect(grown).toBeGreaterThanOrEqual(Math.floor(Buffer.byteLength(more) / 3) - 1);
        }
        expect(bound(write(more), 'abridged')).toBe(bound(write(more)));
      }),
      { numRuns: 20 },
    );
  });

  it('has what an image costs at most, however it comes', () => {
    const withoutFile = bound(user(text('Hi')));
    const image = (source: object) => bound(user(text('Hi'), { type: 'image', source }));
    for (const source of [IMAGE, LINK, { ...LINK, type: 'of_tomorrow' }]) {
      expect(image(source) - withoutFile).toBeGreaterThanOrEqual(4_800);
      expect(image(source) - withoutFile).toBeLessThan(4_900);
    }
  });

  it.each([
    ['a PDF', document(PDF)],
    ['a linked document', document(LINK)],
    ['a document of tomorrow', document({ type: 'of_tomorrow' })],
    ['a file', document(FILE)],
    ['an image by id', { type: 'image', source: FILE }],
    ['a file for a sandbox', { type: 'container_upload', file_id: 'file_1' }],
    ['a linked thing of tomorrow', { type: 'tomorrow', source: LINK }],
  ])('is all that the model reads where there is %s, and once where there are many', (_, block) => {
    for (const body of [user(block), user(...Array(20).fill(block)), withResult([block])]) {
      expect(bound(body)).toBeGreaterThanOrEqual(WINDOW);
      expect(bound(body)).toBeLessThan(1.05 * WINDOW);
    }
  });

  it.each([
    ['computer_toolset_20260801', 4_500],
    ['browser_toolset_20260801', 6_600],
    ['Browser_Toolset', 6_600],
  ])('has room for what a vendor says of the tools in %s: %i tokens', (type, tokens) => {
    const plain = user(text('Hi'));
    const more = bound({ ...plain, tools: [{ type }] }) - bound(plain);
    expect(more).toBeGreaterThan(1.25 * tokens);
    expect(bound({ ...plain, tools: [{ type }, { type }] }) - bound(plain)).toBeGreaterThan(
      2 * tokens,
    );
  });

  it('is what the settings say of a file, and no less than its bytes say', () => {
    const bounds = {
      ...FILE_BOUNDS,
      pdfTokens: 9_000,
      documentUrlTokens: 8_000,
      fileTokens: 7_000,
    };
    const boundFile = (block: object) => bound(user(block), 'whole', bounds);
    for (const [source, tokens] of [
      [PDF, 9_000],
      [LINK, 8_000],
      [FILE, 7_000],
    ] as const) {
      expect(boundFile(document(source))).toBeGreaterThanOrEqual(tokens);
      expect(boundFile(document(source))).toBeLessThan(tokens + 100);
    }
    const large = { ...PDF, data: 'A'.repeat(1_000_000) };
    expect(boundFile(document(large))).toBeGreaterThanOrEqual(16 * 1_600);
  });

  it.each([
    ['images by URL', { imageUrlTokens: 0 }, { type: 'image', source: LINK }],
    ['PDFs', { pdfTokens: 0 }, document(PDF)],
    ['documents by URL', { documentUrlTokens: 0 }, document(LINK)],
    ['files by id', DEFAULT_BOUNDS, document(FILE)],
    ['files by id', { fileTokens: 0 }, { type: 'image', source: FILE }],
    ['files by id', { fileTokens: 0 }, { type: 'container_upload', file_id: 'file_1' }],
    ['files by id', { fileTokens: 0 }, { type: 'of_tomorrow', source: {}, file_id: 'file_1' }],
    ['files by id', { fileTokens: 0 }, { type: 'image', source: { ...IMAGE, file_id: 'file_1' } }],
  ])('is refused for %s where that bound is 0', (what, bounds, block) => {
    const refuse = () => bound(user(block), 'whole', { ...FILE_BOUNDS, ...bounds });
    expect(refuse).toThrow(`messages: this gateway does not take ${what}`);
    expect(bound(user({ type: 'image', source: IMAGE }))).toBeGreaterThan(0);
  });
});

describe('what an upstream may report of a request', () => {
  const reported = (body: object) => boundOf(body).reportedTokensMax;

  it('is the window, if no more was sent', () => {
    expect(reported(user(text('Hi')))).toBe(WINDOW);
    expect(reported(user(text('Hi'), { type: 'image', source: IMAGE }))).toBe(WINDOW);
  });

  it.each(Object.keys(PLACES))('is a token for each byte of text in %s', (place) => {
    const write = PLACES[place] ?? (() => ({}));
    const most = reported(write('é'.repeat(300_000)));
    expect(most).toBeGreaterThanOrEqual(600_000);
    // Some of these have a file beside the text, which may fill the window.
    expect(most).toBeLessThan(610_000 + WINDOW);
  });

  it('has room for files beside the text', () => {
    const long = text('x'.repeat(600_000));
    expect(reported(user(long, document(PDF)))).toBeGreaterThanOrEqual(600_000 + WINDOW);
    const image = { type: 'image', source: { ...IMAGE, data: 'A'.repeat(600_000) } };
    expect(reported(user(image))).toBe(WINDOW);
  });
});
