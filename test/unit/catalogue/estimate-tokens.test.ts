import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/catalogue/estimate-tokens.ts';
import type { ContentBlock, InferenceRequest } from '../../../src/protocol/inference.ts';
import { createRequest } from '../upstream/simulated-support.ts';

const ofText = (content: string | readonly ContentBlock[]) =>
  estimateTokens(createRequest({ messages: [{ role: 'user', content }] }), 3);

describe('estimateTokens', () => {
  it('takes three bytes of UTF-8 for a token, and four tokens for a message', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const bytes = Buffer.byteLength(text);
        expect(ofText(text)).toEqual({
          likely: 4 + Math.ceil(bytes / 3),
          least: Math.ceil(bytes / 16),
          most: 4 + bytes,
          unsure: 0,
          files: undefined,
          cacheWrite: undefined,
        });
      }),
    );
  });

  it('takes as many bytes for a token as it is told', () => {
    const request = createRequest({ messages: [{ role: 'user', content: 'x'.repeat(100) }] });
    expect(estimateTokens(request, 1).likely).toBe(104);
    expect(estimateTokens(request, 3.5).likely).toBe(4 + 29);
    expect(estimateTokens(request, 8)).toMatchObject({ likely: 17, least: 7 });
  });

  it('counts text the same as a string and as a block', () => {
    expect(ofText([{ type: 'text', text: 'Hello!' }])).toEqual(ofText('Hello!'));
  });

  it('counts a token more for each further part, however short', () => {
    const parts = (count: number, text: string) =>
      ofText(Array.from({ length: count }, () => ({ type: 'text', text })));
    expect(parts(1_000, '').likely).toBe(4 + 999);
    expect(parts(1_000, 'a').likely).toBeGreaterThan(1_000);
    expect(parts(0, '')).toEqual(ofText(''));
  });

  it('counts an image once, whatever its bytes', () => {
    const image = (data: string): ContentBlock => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data },
    });
    expect(ofText([image('A'.repeat(1_000_000))])).toEqual(ofText([image('A')]));
    expect(ofText([image('A')]).likely).toBe(1_605);
    const inResult: ContentBlock = {
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: [image('A'.repeat(1_000_000))],
    };
    expect(ofText([inResult]).likely).toBe(1_606);
  });

  it('counts a document by its pages, or by its text', () => {
    const pdf = (data: string): ContentBlock => ({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data },
    });
    expect(ofText([pdf('A'.repeat(200_000))]).likely).toBe(5 + 4 * 1_600);
    const plain: ContentBlock = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'x'.repeat(30_000) },
    };
    expect(ofText([plain]).likely).toBeGreaterThan(10_000);
    expect(ofText([plain]).likely).toBeLessThan(10_100);
  });

  it('counts the system prompt, tools, their calls and results, and a schema for the answer', () => {
    const base = estimateTokens(createRequest(), 3).likely;
    const long = 'x'.repeat(3_000);
    const schema = { type: 'object', properties: { [long]: {} } };
    const more = [
      createRequest({ system: long }),
      createRequest({ system: [{ type: 'text', text: long }] }),
      createRequest({ tools: [{ name: 'tool', description: long }] }),
      createRequest({ tools: [{ name: 'tool', input_schema: schema }] }),
      createRequest({ outputSchema: schema }),
      createRequest({
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'toolu_1', name: 'tool', input: { a: [long] } }],
          },
        ],
      }),
      createRequest({
        messages: [
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: long }],
          },
        ],
      }),
    ];
    for (const request of more) {
      expect(estimateTokens(request, 3).likely).toBeGreaterThan(base + 980);
      expect(estimateTokens(request, 3).likely).toBeLessThan(base + 1_080);
    }
  });

  it('never grows beyond its stack, however deep a client nests', () => {
    let input: Record<string, unknown> = {};
    for (let i = 0; i < 200_000; i++) input = { a: input };
    const deep: ContentBlock = { type: 'tool_use', id: 'toolu_1', name: 'tool', input };
    expect(ofText([deep]).likely).toBeGreaterThan(200_000);
  });
});

describe('the cache that a request asks for', () => {
  const short = { type: 'ephemeral' } as const;
  const long = { type: 'ephemeral', ttl: '1h' } as const;
  const text = (cache_control: unknown) =>
    ({ type: 'text', text: 'a', cache_control }) as ContentBlock;
  const inMessage = (...content: ContentBlock[]) =>
    createRequest({ messages: [{ role: 'user', content }] });
  const result = (content: readonly ContentBlock[]): ContentBlock => ({
    type: 'tool_result',
    tool_use_id: 'toolu_1',
    content,
  });
  const cacheWriteOf = (request: InferenceRequest) => estimateTokens(request, 3).cacheWrite;

  it('is found on the request, the system prompt, a tool and a block at any depth', () => {
    for (const control of [short, { type: 'ephemeral', ttl: '5m' }, long]) {
      const marked = { cache_control: control };
      const requests = [
        createRequest({ cacheControl: control as typeof long }),
        createRequest({ system: [{ type: 'text', text: 'a', ...(marked as object) }] }),
        createRequest({ tools: [{ name: 'tool', ...(marked as object) }] }),
        inMessage({ type: 'text', text: 'a' }, text(control)),
        inMessage({ type: 'image', source: { type: 'url', url: 'http://a' }, ...marked }),
        inMessage({ type: 'other', ...marked }),
        inMessage(result([text(control)])),
        inMessage(result([result([text(control)])])),
      ];
      for (const request of requests) {
        expect(cacheWriteOf(request)).toBe(control === long ? '1h' : '5m');
      }
    }
  });

  it('is the dearest of several, in any order', () => {
    expect(cacheWriteOf(inMessage(text(short), text(long)))).toBe('1h');
    expect(cacheWriteOf(inMessage(text(long), text(short)))).toBe('1h');
  });

  it('is none without a marker, or where the same name means something else', () => {
    const input = { cache_control: long };
    const requests = [
      createRequest(),
      inMessage(text(null)),
      inMessage(text('1h')),
      inMessage({ type: 'tool_use', id: 'toolu_1', name: 'tool', input }),
      createRequest({ tools: [{ name: 'tool', input_schema: { properties: input } }] }),
      createRequest({ outputSchema: { properties: input } }),
    ];
    for (const request of requests) expect(cacheWriteOf(request)).toBeUndefined();
  });
});
