import { expect } from 'vitest';
import type { SseEvent } from '../../src/protocol/sse/sse-decoder.ts';
import type { StreamReading } from './format.suite.ts';

interface OpenBlock {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  json: string;
  deltas: number;
  isSigned: boolean;
}

interface Payload {
  readonly type: string;
  readonly index?: number;
  readonly message?: unknown;
  readonly content_block?: { type: string; id?: string; name?: string };
  readonly delta?: {
    type?: string;
    text?: string;
    thinking?: string;
    signature?: string;
    partial_json?: string;
  };
  readonly usage?: unknown;
}

const DELTAS_OF: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
};

const count = expect.any(Number);

/** Reads as strictly as the strictest client that wire.md 3.2 lists. */
export function readNativeStream(events: readonly SseEvent[]): StreamReading {
  const tools: { id: string; name: string; input: unknown }[] = [];
  let text = '';
  let stage: 'nothing' | 'started' | 'stopped' | 'finished' | 'failed' = 'nothing';
  let blocks = 0;
  let open: OpenBlock | undefined;

  const readDelta = (payload: Payload) => {
    const delta = payload.delta ?? {};
    expect(payload.index).toBe(blocks - 1);
    expect(DELTAS_OF[open?.type ?? ''] ?? []).toContain(delta.type);
    if (open === undefined) return;
    expect(open.isSigned).toBe(false);
    open.deltas += 1;
    open.isSigned = delta.type === 'signature_delta';
    if (open.type === 'tool_use' && open.deltas === 1) expect(delta.partial_json).toBe('');
    text += delta.text ?? '';
    open.json += delta.partial_json ?? '';
  };

  const closeBlock = (payload: Payload) => {
    expect(payload.index).toBe(blocks - 1);
    expect(open).toBeDefined();
    if (open?.type === 'tool_use') {
      expect(open.deltas).toBeGreaterThan(0);
      tools.push({ id: open.id, name: open.name, input: JSON.parse(open.json || '{}') });
    }
    open = undefined;
  };

  for (const { event, data } of events) {
    const payload = JSON.parse(data) as Payload;
    expect(payload.type).toBe(event);
    expect(['finished', 'failed'], 'nothing follows the end').not.toContain(stage);
    switch (payload.type) {
      case 'ping':
        expect(stage).not.toBe('nothing');
        break;
      case 'message_start':
        expect(stage).toBe('nothing');
        expect(payload.message).toEqual({
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          model: expect.any(String),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: expect.objectContaining({ input_tokens: count, output_tokens: 0 }),
        });
        stage = 'started';
        break;
      case 'content_block_start':
        expect(stage).toBe('started');
        expect(open).toBeUndefined();
        expect(payload.index).toBe(blocks);
        blocks += 1;
        open = {
          type: payload.content_block?.type ?? '',
          id: payload.content_block?.id ?? '',
          name: payload.content_block?.name ?? '',
          json: '',
          deltas: 0,
          isSigned: false,
        };
        break;
      case 'content_block_delta':
        readDelta(payload);
        break;
      case 'content_block_stop':
        closeBlock(payload);
        break;
      case 'message_delta':
        expect(stage).toBe('started');
        expect(open).toBeUndefined();
        expect(payload.usage).toMatchObject({ input_tokens: count, output_tokens: count });
        stage = 'stopped';
        break;
      case 'message_stop':
        expect(stage).toBe('stopped');
        stage = 'finished';
        break;
      case 'error':
        stage = 'failed';
        break;
      default:
        throw new Error(`no client knows the event ${payload.type}`);
    }
  }
  if (stage !== 'finished' && stage !== 'failed') throw new Error('the stream was cut off');
  return { text, tools, ending: stage };
}
