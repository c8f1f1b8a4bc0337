import { expect } from 'vitest';
import type { SseEvent } from '../../src/protocol/sse/sse-decoder.ts';
import type { StreamReading } from './format.suite.ts';

export interface ChatReading extends StreamReading {
  readonly reasoning: string;
  readonly finishReason: string | undefined;
  readonly usage: unknown;
}

interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
}

interface Delta {
  readonly role?: string;
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ToolCallDelta[];
}

interface Chunk {
  readonly choices: readonly {
    readonly index: number;
    readonly delta: Delta;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: unknown;
}

const CHUNK_FIELDS = ['id', 'object', 'created', 'model', 'choices'];
const CHOICE_FIELDS = ['index', 'delta', 'logprobs', 'finish_reason'];

type Tool = { id: string; name: string; json: string };

function addToolCall(tools: Tool[], call: ToolCallDelta): void {
  if (call.id === undefined) {
    expect(call.index).toBe(tools.length - 1);
    expect(call.function.arguments).not.toBe('');
    const tool = tools.at(-1);
    if (tool !== undefined) tool.json += call.function.arguments;
    return;
  }
  expect(call).toEqual({
    index: tools.length,
    id: call.id,
    type: 'function',
    function: { name: call.function.name, arguments: '' },
  });
  tools.push({ id: call.id, name: call.function.name ?? '', json: '' });
}

/**
 * Reads the chunks before the terminator. The terminator must be there unless the stream failed.
 */
function readBodies(events: readonly SseEvent[]): { chunks: Chunk[]; isFailed: boolean } {
  for (const { event } of events) expect(event).toBeUndefined();
  const bodies = events.map(({ data }) => data);
  const last = bodies.pop() ?? '';
  const chunks = bodies.map((body) => JSON.parse(body) as Chunk);
  if (last === '[DONE]') return { chunks, isFailed: false };
  const { error } = JSON.parse(last) as { error: object };
  expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  return { chunks, isFailed: true };
}

function checkShape(chunks: readonly Chunk[]): void {
  const [first] = chunks;
  const wantsUsage = first !== undefined && 'usage' in first;
  for (const chunk of chunks) {
    expect(Object.keys(chunk)).toEqual([...CHUNK_FIELDS, ...(wantsUsage ? ['usage'] : [])]);
    expect({ ...chunk, choices: [], usage: null }).toEqual({ ...first, choices: [], usage: null });
    for (const choice of chunk.choices) expect(Object.keys(choice)).toEqual(CHOICE_FIELDS);
  }
  expect(first?.choices[0]?.delta).toEqual({ role: 'assistant' });
}

/** Reads as a client that tolerates nothing that any other client might not tolerate. */
export function readChatStream(events: readonly SseEvent[]): ChatReading {
  const { chunks, isFailed } = readBodies(events);
  checkShape(chunks);
  const reading = { text: '', reasoning: '', tools: [] as Tool[] };
  let usage: unknown;
  let finishReason: string | undefined;
  for (const chunk of chunks) {
    expect(usage).toBeUndefined();
    const [choice] = chunk.choices;
    if (choice === undefined) {
      expect(finishReason).toBeDefined();
      usage = chunk.usage;
      continue;
    }
    expect(chunk.usage ?? null).toBeNull();
    expect(finishReason).toBeUndefined();
    const { delta } = choice;
    reading.text += delta.content ?? '';
    reading.reasoning += delta.reasoning_content ?? '';
    for (const call of delta.tool_calls ?? []) addToolCall(reading.tools, call);
    if (choice.finish_reason === null) continue;
    expect(delta).toEqual({});
    finishReason = choice.finish_reason;
  }
  expect(finishReason === undefined).toBe(isFailed);
  if (!isFailed) expect(usage !== undefined).toBe('usage' in (chunks[0] ?? {}));
  return {
    text: reading.text,
    reasoning: reading.reasoning,
    tools: reading.tools.map(({ id, name, json }) => ({ id, name, input: JSON.parse(json) })),
    ending: isFailed ? 'failed' : 'finished',
    finishReason,
    usage,
  };
}
