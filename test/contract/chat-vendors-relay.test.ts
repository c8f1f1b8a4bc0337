import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStreamDecoder } from '../../src/protocol/chat/answers/decode-stream.ts';
import { createChatRelay } from '../../src/protocol/chat/answers/relay-stream.ts';
import { mendToolId } from '../../src/protocol/native/requests/mend-messages.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { isMereBeginning } from '../../src/upstream/pushed-part.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { AS_IT_IS, readAll, relayAll } from './relay-support.ts';

const MODEL = 'llm-pinned';
const CONTEXT = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };
const RUNS = { numRuns: 500, timeMs: 3_000 };
const FIXTURES = new URL('../fixtures/upstreams/chat/', import.meta.url);
const streams = readdirSync(FIXTURES).filter((file) => file.endsWith('.sse'));

type Fields = Readonly<Record<string, unknown>>;

interface Chunk extends Fields {
  readonly choices: readonly { readonly delta: Fields }[];
}

const toBytes = (text: string) => new TextEncoder().encode(text);

const readChunks = (bytes: Uint8Array) =>
  createSseDecoder()
    .push(bytes)
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as Chunk);
const readChoices = (bytes: Uint8Array) => readChunks(bytes).flatMap(({ choices }) => choices);

describe('the relay of chat streams of other vendors', () => {
  it('counts whatever it passes on, and holds none of it back as a mere beginning', () => {
    const values = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.jsonValue().filter((value) => value !== null && value !== ''),
      fc.constantFrom<unknown>(
        [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }],
        [{ type: 'image_url', image_url: { url: 'data:,a' } }],
        [{ type: 'text', text: { value: 'Hm' } }],
        { id: 'a', data: 'UklGRg==' },
      ),
    );
    const names = fc.constantFrom('content', 'reasoning_details', 'audio', 'images', 'of_tomorrow');
    assertInTime(
      fc.property(names, values, (name, value) => {
        fc.pre(!(Array.isArray(value) && value.length === 0));
        const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
        const begin = { choices: [{ index: 0, delta: { role: 'assistant' } }] };
        relay.push(toBytes(`data: ${JSON.stringify(begin)}\n\n`));
        const chunk = { choices: [{ index: 0, delta: { [name]: value } }] };
        const part = relay.push(toBytes(`data: ${JSON.stringify(chunk)}\n\n`));
        expect(part.bytes).not.toEqual([]);
        expect(part.contentBytes).toBeGreaterThan(0);
        expect(isMereBeginning(part)).toBe(false);
      }),
      RUNS,
    );
  });

  it('leaves out a second choice, which nobody asked for, and does not count it', () => {
    const say = (content: string, index: number) => ({ index, delta: { content } });
    const chunks = [
      { choices: [say('Hi', 0)] },
      { choices: [say('second', 1), say(' there', 0)] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ];
    const written = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const all = toBytes(`${written.join('')}data: [DONE]\n\n`);
    const { bytes, contentBytes } = relayAll(relay, [all]);
    expect(readChoices(bytes)).toMatchObject([
      { index: 0, delta: { role: 'assistant' } },
      say('Hi', 0),
      say(' there', 0),
      { index: 0, delta: {}, finish_reason: 'stop' },
    ]);
    expect(contentBytes).toBe('Hi there'.length);
  });

  it('keeps what a choice has beside its words, also where it has none, and where it ends', () => {
    const logprobs = (token: string) => ({ content: [{ token, logprob: -1, top_logprobs: [] }] });
    const choices = [
      { index: 0, delta: { role: 'assistant', content: '' }, filter_results: {}, logprobs: null },
      { index: 0, delta: { content: '' }, logprobs: logprobs('half'), finish_reason: null },
      { index: 0, delta: { content: '' }, logprobs: logprobs('end'), finish_reason: 'stop' },
    ];
    const written = choices.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`);
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const relayed = relayAll(relay, [toBytes(`${written.join('')}data: [DONE]\n\n`)]);
    expect(readChoices(relayed.bytes)).toEqual([
      { index: 0, delta: { role: 'assistant' }, logprobs: null, finish_reason: null },
      choices[1],
      { ...choices[2], finish_reason: null },
      { index: 0, delta: {}, logprobs: null, finish_reason: 'stop' },
    ]);
    expect(relayed.contentBytes).toBe(0);
  });

  describe('keeps what stands beside the choices', () => {
    const relayed = (...chunks: readonly Fields[]) => {
      const written = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
      const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
      return readChunks(relayAll(relay, [toBytes(`${written}data: [DONE]\n\n`)]).bytes);
    };
    const say = (content: string, reason: string | null = null) => ({
      choices: [{ index: 0, delta: { content }, finish_reason: reason }],
    });
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const citations = ['https://example.com/'];

    it('in front of them and behind', () => {
      const chunk = (text: string, tier: string) => ({
        ...{ id: 'a', model: 'vendor', system_fingerprint: 'fp' },
        ...{ service_tier: tier, nothing: null, ...say(text), of_tomorrow: [1] },
      });
      const chunks = relayed(chunk('a', 'x'), chunk('b', 'x'), chunk('c', 'x'), chunk('d', 'y'));
      expect(chunks.map((each) => each['system_fingerprint']).slice(0, -1)).toEqual(
        Array.from({ length: 6 }, () => 'fp'),
      );
      const tiers = ['x', 'x', 'x', 'x', 'y', 'y'];
      expect(chunks.map((each) => each['service_tier']).slice(0, -1)).toEqual(tiers);
      expect(chunks.map((each) => each['of_tomorrow']).slice(0, -1)).toEqual(tiers.map(() => [1]));
      expect(chunks.every(({ model, id }) => model === MODEL && id !== 'vendor')).toBe(true);
    });

    it('behind nested fields, and beside a finish reason or the usage', () => {
      const last = { citations, ...say(' two', 'stop'), usage, fingerprint: 'fp' };
      const chunks = relayed({ citations, ...say('One') }, last);
      expect(chunks.map((each) => each['citations']).slice(0, -1)).toEqual(
        Array.from({ length: 4 }, () => citations),
      );
      expect(chunks.map((each) => each['fingerprint']).slice(0, -1)).toEqual([
        undefined,
        undefined,
        'fp',
        'fp',
      ]);
    });

    it('in a chunk before the first one that has choices', () => {
      const prompt_filter_results = [{ prompt_index: 0, content_filter_results: {} }];
      const early = { id: '', model: '', choices: [], prompt_filter_results, provider: 'Vendor' };
      const later = { ...say('One'), fingerprint: 'fp' };
      const chunks = relayed(early, { ...early, prompt_filter_results: null }, later, later);
      expect(chunks[0]).toMatchObject({
        ...{ prompt_filter_results, fingerprint: 'fp', model: MODEL },
        choices: [{ delta: { role: 'assistant' } }],
      });
      expect(chunks.filter((each) => 'prompt_filter_results' in each)).toEqual([chunks[0]]);
      expect(chunks.some((each) => 'provider' in each)).toBe(false);
    });

    it('in the usage, also in its details, where the counts are ours', () => {
      const told = {
        ...{ ...usage, prompt_cache_hit_tokens: 1, prompt_tokens_details: { audio_tokens: 2 } },
        completion_tokens_details: { reasoning_tokens: 9, accepted_prediction_tokens: 1 },
      };
      const earlier = { ...say('One'), usage: { ...told, prompt_cache_hit_tokens: 0 } };
      for (const last of [
        { ...say('', 'stop'), usage: told },
        { choices: [], usage: told },
      ]) {
        expect(relayed(earlier, say('', 'stop'), last).at(-1)).toMatchObject({
          choices: [],
          usage: {
            ...{ ...usage, prompt_cache_hit_tokens: 1 },
            prompt_tokens_details: { audio_tokens: 2, cached_tokens: 1, cache_write_tokens: 0 },
            completion_tokens_details: { reasoning_tokens: 2, accepted_prediction_tokens: 1 },
          },
        });
      }
    });

    it('behind a mask, because a vendor may speak of a failure there', () => {
      const written = [{ choices: [], note: 'secret' }, say('One', 'stop')];
      const relay = createChatRelay(MODEL, CONTEXT, (text) => text.replaceAll('secret', '[…]'));
      const bytes = written.map((chunk) => toBytes(`data: ${JSON.stringify(chunk)}\n\n`));
      const [first] = readChunks(relayAll(relay, bytes).bytes);
      expect(first).toMatchObject({ note: '[…]' });
    });

    it('in a chunk without words, at the end', () => {
      const chunks = relayed(say('One'), say('', 'stop'), { citations, choices: [], usage });
      expect(chunks.at(-2)).toMatchObject({ citations, choices: [{ finish_reason: 'stop' }] });
    });
  });

  it('counts a call of the deprecated kind', () => {
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const push = (call: Fields) => {
      const chunk = { choices: [{ index: 0, delta: { function_call: call } }] };
      return relay.push(toBytes(`data: ${JSON.stringify(chunk)}\n\n`));
    };
    const first = push({ name: 'look', arguments: '' });
    expect(isMereBeginning(first)).toBe(false);
    expect(push({ arguments: '{"a":1}' }).contentBytes).toBe(7);
  });

  it('counts the pieces of a call that waits for another one once, as they are sent on', () => {
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const push = (calls: readonly Fields[]) => {
      const chunk = { choices: [{ index: 0, delta: { tool_calls: calls } }] };
      return relay.push(toBytes(`data: ${JSON.stringify(chunk)}\n\n`)).contentBytes;
    };
    const call = (index: number, json: string) => ({
      ...{ index, id: `c${index}`, type: 'function' },
      function: { name: 'f', arguments: json },
    });
    expect(push([call(0, '{')])).toBe(1);
    expect(push([call(1, '{}')])).toBe(2);
    expect(push([{ index: 0, function: { arguments: '}' } }])).toBe(1);
  });

  it.each([
    ['stop', { refusal: 'I cannot.' }, 'stop'],
    ['content_filter', { refusal: 'I cannot.' }, 'content_filter'],
    ['function_call', { function_call: { name: 'f', arguments: '{}' } }, 'function_call'],
    ['eos', { refusal: 'I cannot.' }, 'content_filter'],
    ['model_length', { content: 'Hi' }, 'length'],
    ['sensitive', { content: 'Hi' }, 'content_filter'],
  ])('ends with the reason of its upstream, if clients know it: %s', (told, delta, reason) => {
    const chunks = [
      { choices: [{ index: 0, delta, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: told }] },
    ];
    const written = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const { bytes } = relayAll(relay, [toBytes(`${written}data: [DONE]\n\n`)]);
    expect(new TextDecoder().decode(bytes)).toContain(`"finish_reason":"${reason}"`);
  });

  it('refuses behind its words what its vendor broke off', () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'abort' }] };
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const written = toBytes(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    const { bytes, refusal } = relayAll(relay, [written]);
    expect(readChoices(bytes).at(-1)).toMatchObject({ delta: chunk.choices[0]?.delta });
    expect(refusal?.message).toContain('broke off');
  });

  it('passes on no failure that its vendor puts into words of its own', () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'Hi' } }] };
    const failure = 'event: error\ndata: {"message":"secret","code":500}\n\n';
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const written = toBytes(`data: ${JSON.stringify(chunk)}\n\n${failure}data: [DONE]\n\n`);
    const { bytes, refusal } = relayAll(relay, [written]);
    expect(new TextDecoder().decode(bytes)).not.toContain('secret');
    expect(refusal).toMatchObject({ refusal: 'upstream_broken' });
  });

  it.each(streams)('numbers the calls of %s so that clients can tell them apart', (file) => {
    const upstream = new Uint8Array(readFileSync(new URL(file, FIXTURES)));
    const { bytes } = relayAll(createChatRelay(MODEL, CONTEXT, AS_IT_IS), [upstream]);
    const calls = new Map<number, Fields>();
    for (const { data } of createSseDecoder().push(bytes)) {
      if (data === '[DONE]') continue;
      const [choice] = (JSON.parse(data) as Chunk).choices;
      for (const piece of (choice?.delta['tool_calls'] ?? []) as { index: number; id: string }[]) {
        if (calls.has(piece.index)) continue;
        calls.set(piece.index, { ...piece, id: mendToolId(piece.id) });
      }
    }
    const blocks = readAll(upstream, createStreamDecoder()).events.flatMap((event) =>
      event.type === 'block_start' && event.block.type === 'tool_use' ? [event.block] : [],
    );
    expect([...calls]).toMatchObject(
      blocks.map(({ id, name }, i) => [i, { index: i, id, type: 'function', function: { name } }]),
    );
  });

  it('keeps a list of parts in which some are neither texts nor thoughts', () => {
    const content = [
      { type: 'text', text: 'Hi' },
      { type: 'reference', reference_ids: [1] },
    ];
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const chunk = { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] };
    const { bytes } = relayAll(relay, [toBytes(`data: ${JSON.stringify(chunk)}\n\n`)]);
    expect(readChoices(bytes)).toContainEqual({
      index: 0,
      delta: { content },
      finish_reason: null,
    });
  });

  it('keeps unknown fields of a call that it numbers', () => {
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const call = { function: { name: 'f', arguments: '{}' }, extra_content: { google: 1 } };
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [call, call] } }] };
    const part = relay.push(toBytes(`data: ${JSON.stringify(chunk)}\n\n`));
    const written = new TextDecoder().decode(part.bytes.at(-1));
    const [choice] = (JSON.parse(written.slice('data: '.length)) as Chunk).choices;
    expect(choice?.delta['tool_calls']).toEqual([
      { ...call, index: 0, id: 'call_msg_unnamed_0', type: 'function' },
      { ...call, index: 1, id: 'call_msg_unnamed_1', type: 'function' },
    ]);
  });
});
