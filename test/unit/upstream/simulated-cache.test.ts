import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/catalogue/estimate-tokens.ts';
import type { CacheControl, InferenceRequest, TextBlock } from '../../../src/protocol/inference.ts';
import { createPromptCache } from '../../../src/upstream/simulated/prompt-cache.ts';
import {
  collect,
  createCall,
  createRequest,
  createUpstream,
  readOutcome,
} from './simulated-support.ts';

const MARKER: CacheControl = { type: 'ephemeral' };
const MARKER_1H: CacheControl = { type: 'ephemeral', ttl: '1h' };
const LONG = 'A long preface. '.repeat(100);

const block = (text: string, marker?: CacheControl): TextBlock =>
  marker === undefined ? { type: 'text', text } : { type: 'text', text, cache_control: marker };
const turns = (...texts: readonly TextBlock[]): InferenceRequest['messages'] =>
  texts.map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: [text] }));

/** One upstream whose clock the test controls. */
function createSession() {
  const now = { ms: 0 };
  const infer = createUpstream({ clock: { nowMs: () => now.ms } });
  return {
    now,
    usage: async (fields: Partial<InferenceRequest>, model = 'llm-haiku-4.5') =>
      readOutcome(await collect(infer(createCall(createRequest(fields), { model })))).finish.usage,
  };
}

describe('the prompt cache', () => {
  it('writes a marked prefix once and reads it from then on', async () => {
    const { usage } = createSession();
    const request = { system: [block(LONG, MARKER)], messages: turns(block('Hi')) };
    const first = await usage(request);
    const second = await usage({ ...request, messages: turns(block('Something else')) });
    expect(first).toMatchObject({ cacheRead: 0, cacheWrite1h: 0 });
    expect(first.cacheWrite5m).toBeGreaterThan(500);
    expect(second).toMatchObject({ cacheRead: first.cacheWrite5m, cacheWrite5m: 0 });
    expect(first.input + first.cacheWrite5m).toBe(estimateTokens(createRequest(request), 3).likely);
  });

  it('follows a marker that moves along with the conversation', async () => {
    const { usage } = createSession();
    const first = await usage({ messages: turns(block(LONG, MARKER)) });
    const second = await usage({
      messages: turns(block(LONG), block('Ah'), block('More', MARKER)),
    });
    expect(second.cacheRead).toBe(first.cacheWrite5m);
    expect(second.cacheWrite5m).toBeGreaterThan(0);
    expect(second.input).toBe(0);
  });

  it('takes the marker beside the messages for one on their last block', async () => {
    const { usage } = createSession();
    const request = { messages: turns(block(LONG)), cacheControl: MARKER_1H };
    const first = await usage(request);
    expect(first).toMatchObject({ input: 0, cacheRead: 0, cacheWrite5m: 0 });
    expect(await usage(request)).toMatchObject({ input: 0, cacheRead: first.cacheWrite1h });
  });

  it('forgets after 5 minutes or an hour in which nobody asked', async () => {
    const { usage, now } = createSession();
    const request = {
      tools: [{ name: 'tool', description: LONG, cache_control: MARKER_1H }],
      system: [block(LONG, MARKER)],
    };
    const first = await usage(request);
    now.ms += 4 * 60_000;
    expect(await usage(request)).toMatchObject({
      cacheRead: first.cacheWrite1h + first.cacheWrite5m,
    });
    now.ms += 4 * 60_000;
    expect(await usage(request)).toMatchObject({ cacheWrite5m: 0, cacheWrite1h: 0 });
    now.ms += 5 * 60_000;
    expect(await usage(request)).toMatchObject({
      cacheRead: first.cacheWrite1h,
      cacheWrite5m: first.cacheWrite5m,
    });
    now.ms += 60 * 60_000;
    expect(await usage(request)).toEqual(first);
  });

  it('is not shared between models, and knows any change before the marker', async () => {
    const { usage } = createSession();
    const request = { system: [block(LONG, MARKER)] };
    await usage(request);
    expect(await usage(request, 'llm-opus-4.7')).toMatchObject({ cacheRead: 0 });
    expect(await usage({ system: [block(`${LONG}!`, MARKER)] })).toMatchObject({ cacheRead: 0 });
    expect(await usage({ ...request, tools: [{ name: 'tool' }] })).toMatchObject({ cacheRead: 0 });
  });

  it('keeps a bounded number of prefixes, the last used ones', () => {
    const cache = createPromptCache({ nowMs: () => 0 }, 2);
    cache.write('a', '5m');
    cache.write('b', '5m');
    expect(cache.touch('a')).toBe(true);
    cache.write('c', '5m');
    expect([cache.touch('a'), cache.touch('b'), cache.touch('c')]).toEqual([true, false, true]);
  });

  it('never changes what input costs in tokens, whatever is marked', async () => {
    const anyBlock = fc
      .tuple(fc.constantFrom('a', 'b', LONG), fc.constantFrom(undefined, MARKER, MARKER_1H))
      .map(([text, marker]) => block(text, marker));
    const { usage } = createSession();
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyBlock, { maxLength: 3 }),
        fc.array(anyBlock, { minLength: 1, maxLength: 5 }),
        async (system, texts) => {
          const fields = { system, messages: turns(...texts) };
          const total = estimateTokens(createRequest(fields), 3).likely;
          const { input, cacheRead, cacheWrite5m, cacheWrite1h } = await usage(fields);
          expect(input + cacheRead + cacheWrite5m + cacheWrite1h).toBe(total);
          expect(Math.min(input, cacheRead, cacheWrite5m, cacheWrite1h)).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
