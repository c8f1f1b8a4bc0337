import { readdirSync, readFileSync } from 'node:fs';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { createChatRelay } from '../../src/protocol/chat/answers/relay-stream.ts';
import type { OutputBlock } from '../../src/protocol/inference.ts';
import { AS_IT_IS, relayAll } from '../contract/relay-support.ts';

const MODEL = 'llm-pinned';
const CONTEXT = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };
const FIXTURES = new URL('../fixtures/upstreams/chat/', import.meta.url);
/** In `noise` is a second choice, for which no request asks. */
const names = readdirSync(FIXTURES)
  .filter((file) => file.endsWith('.sse') && file !== 'noise.sse')
  .map((file) => file.slice(0, -'.sse'.length));

/** What all clients read of an answer. */
interface Said {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
}

function readExpected(name: string): Said & { readonly thinking: string } {
  const answer: { readonly content: readonly OutputBlock[] } = JSON.parse(
    readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8'),
  );
  const said = { text: '', thinking: '', calls: [] as Said['calls'][number][] };
  for (const block of answer.content) {
    if (block.type === 'text') said.text += block.text;
    if (block.type === 'thinking') said.thinking += block.thinking;
    if (block.type === 'tool_use') said.calls.push({ name: block.name, input: block.input });
  }
  return said;
}

function relay(name: string): Response {
  const upstream = new Uint8Array(readFileSync(new URL(`${name}.sse`, FIXTURES)));
  const { bytes, refusal } = relayAll(createChatRelay(MODEL, CONTEXT, AS_IT_IS), [upstream]);
  expect(refusal).toBeUndefined();
  return new Response(Buffer.from(bytes), { headers: { 'content-type': 'text/event-stream' } });
}

describe.each(names)('the relayed stream %s', (name) => {
  const { text, thinking, calls } = readExpected(name);

  it('is whole to the chat client library', async () => {
    const client = new OpenAI({ apiKey: 'k', fetch: async () => relay(name) });
    const stream = client.chat.completions.stream({ model: MODEL, messages: [] });
    const message = (await stream.finalChatCompletion()).choices[0]?.message;
    expect(`${message?.content ?? ''}${message?.refusal ?? ''}`).toBe(text);
    expect(
      (message?.tool_calls ?? []).map(({ function: { name, arguments: json } }) => ({
        name,
        input: JSON.parse(json),
      })),
    ).toEqual(calls);
  });

  const settings = { apiKey: 'k', baseURL: 'http://127.0.0.1', fetch: async () => relay(name) };

  it.each([
    ['openai', createOpenAI(settings).chat(MODEL), ''],
    ['openai-compatible', createOpenAICompatible({ ...settings, name: 'x' })(MODEL), thinking],
  ] as const)('is whole to the AI SDK with its %s provider', async (_, model, thoughts) => {
    const { stream } = await model.doStream({ prompt: [] });
    const read = { text: '', thinking: '', calls: [] as unknown[] };
    for await (const part of stream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'text-delta') read.text += part.delta;
      if (part.type === 'reasoning-delta') read.thinking += part.delta;
      if (part.type === 'tool-call') {
        read.calls.push({ name: part.toolName, input: JSON.parse(part.input) });
      }
    }
    expect(read).toEqual({ text, thinking: thoughts, calls });
  });
});
