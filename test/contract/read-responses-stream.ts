import { expect } from 'vitest';
import type { SseEvent } from '../../src/protocol/sse/sse-decoder.ts';
import type { StreamReading } from './format.suite.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ResponsesReading extends StreamReading {
  readonly thoughts: string;
  readonly output: readonly Json[];
  readonly status: string;
}

/** What a client puts together from the deltas of one item. */
interface Told {
  readonly id: string;
  readonly added: Json;
  text: string;
  done: Json | undefined;
  endings: string[];
}

const RESPONSE_FIELDS = ['id', 'object', 'created_at', 'model', 'status', 'output', 'usage'];
const DELTA_KINDS: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'message',
  'response.refusal.delta': 'message',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'function_call',
  'response.custom_tool_call_input.delta': 'custom_tool_call',
};
const DONE_FIELDS: Readonly<Record<string, string>> = {
  'response.output_text.done': 'text',
  'response.refusal.done': 'refusal',
  'response.reasoning_summary_text.done': 'text',
  'response.function_call_arguments.done': 'arguments',
  'response.custom_tool_call_input.done': 'input',
};
const PARTS = [
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.annotation.added',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
];

const CALLS: readonly unknown[] = ['function_call', 'custom_tool_call'];

const listOf = (value: unknown) => value as readonly Json[];

/** The text of an item, wherever its kind has it. */
function textOf(item: Json): string {
  if (item['type'] === 'function_call') return String(item['arguments']);
  if (item['type'] === 'custom_tool_call') return String(item['input']);
  const parts = listOf(item['type'] === 'reasoning' ? item['summary'] : item['content']);
  return parts.map((part) => String(part['text'] ?? part['refusal'])).join('');
}

function checkItem(item: Json): void {
  expect(item['id']).toMatch(/^(msg|fc|ctc|rs)_/);
  if (item['type'] === 'message') {
    expect(item['role']).toBe('assistant');
    for (const part of listOf(item['content'])) {
      if (part['type'] === 'output_text') expect(part['annotations']).toBeInstanceOf(Array);
    }
  } else if (item['type'] === 'reasoning') expect(item['summary']).toBeInstanceOf(Array);
  else expect(item['call_id']).not.toBe('');
}

class Reader {
  readonly items: Told[] = [];
  last: Json | undefined;
  error: Json | undefined;
  #count = 0;
  #id: unknown;

  read({ event, data }: SseEvent): void {
    const json = JSON.parse(data) as Json;
    expect(json['type']).toBe(event);
    expect(json['sequence_number']).toBe(this.#count);
    this.#count += 1;
    expect(this.last).toBeUndefined();
    this.#take(String(event), json);
  }

  #take(type: string, json: Json): void {
    if (type === 'keepalive') return;
    if (type === 'error') {
      this.error = json['error'] as Json;
      return;
    }
    const open = this.items.at(-1);
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        this.#readBeginning(json['response'] as Json);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.last = json['response'] as Json;
        expect(`response.${this.last['status']}`).toBe(type);
        if (this.#id !== undefined) expect(this.last['id']).toBe(this.#id);
        return;
      case 'response.output_item.added': {
        const item = json['item'] as Json;
        // A call that was cut has no end; whatever else was begun has one.
        if (open !== undefined && !CALLS.includes(open.added['type'])) {
          expect(open.done).toBeDefined();
        }
        expect(json['output_index']).toBe(this.items.length);
        expect(item['status']).toBe('in_progress');
        expect(textOf(item)).toBe('');
        checkItem(item);
        const id = String(item['id']);
        this.items.push({ id, added: item, text: '', done: undefined, endings: [] });
        return;
      }
      case 'response.output_item.done': {
        expect(json['output_index']).toBe(this.items.length - 1);
        const item = json['item'] as Json;
        checkItem(item);
        expect(item['id']).toBe(open?.id);
        expect(textOf(item)).toBe(open?.text);
        if (open !== undefined) open.done = item;
        return;
      }
    }
    expect(open?.done).toBeUndefined();
    expect(json).toMatchObject({ item_id: open?.id, output_index: this.items.length - 1 });
    if (open !== undefined) this.#readInside(type, json, open);
  }

  #readInside(type: string, json: Json, open: Told): void {
    const kind = DELTA_KINDS[type];
    if (kind !== undefined) {
      expect(open.added['type']).toBe(kind);
      expect(open.endings).toEqual([]);
      expect(json['delta']).not.toBe('');
      open.text += String(json['delta']);
      return;
    }
    const field = DONE_FIELDS[type];
    if (field === undefined) expect(PARTS).toContain(type);
    else expect(json[field]).toBe(open.text);
    if (type.endsWith('.done')) open.endings.push(type);
  }

  #readBeginning(response: Json): void {
    for (const name of RESPONSE_FIELDS) expect(response).toHaveProperty(name);
    expect(response).toMatchObject({ status: 'in_progress', output: [], usage: null });
    this.#id = response['id'];
  }
}

/** Reads as a client that tolerates nothing that any other client might not tolerate. */
export function readResponsesStream(events: readonly SseEvent[]): ResponsesReading {
  expect(events[0]?.event).toBe('response.created');
  expect(events[1]?.event).toBe('response.in_progress');
  const reader = new Reader();
  for (const event of events) reader.read(event);
  const { items, last = {}, error } = reader;
  const output = listOf(last['output']);
  const isFailed = last['status'] === 'failed';
  expect(error !== undefined).toBe(isFailed);
  if (isFailed) {
    expect(Object.keys(error ?? {})).toEqual(['type', 'code', 'message', 'param']);
    expect(last['error']).toMatchObject({ message: error?.['message'] });
  } else {
    expect(last['usage']).toHaveProperty('total_tokens');
    // All three places that clients read say the same; only a call that was cut has no end.
    expect(output.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
    for (const [i, { done }] of items.entries()) {
      if (done !== undefined) expect(output[i]).toEqual(done);
      else expect(output[i]).toMatchObject({ status: 'incomplete' });
    }
  }
  const ofKind = (kind: string) => items.filter(({ added }) => added['type'] === kind);
  return {
    text: ofKind('message')
      .filter(({ done }) => listOf(done?.['content'] ?? [])[0]?.['type'] !== 'refusal')
      .map(({ text }) => text)
      .join(''),
    thoughts: ofKind('reasoning')
      .map(({ text }) => text)
      .join(''),
    tools: ofKind('function_call')
      // Half of a tool's input could not be read.
      .filter(({ done, text }) => done !== undefined || isFailed || text === '')
      .map(({ added, text }) => ({
        id: String(added['call_id']),
        name: String(added['name']),
        input: JSON.parse(text || '{}'),
      })),
    output,
    status: String(last['status']),
    ending: isFailed ? 'failed' : 'finished',
  };
}
