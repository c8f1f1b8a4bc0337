import { countUtf8Bytes } from '../../../lib/bytes/count-utf8-bytes.ts';
import type { BlockDelta, BlockStart, InferenceEvent } from '../../inference.ts';
import { writeInput } from '../../json/input-text.ts';
import { brokenAnswer, type Json, readText } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

interface OpenBlock {
  readonly index: number;
  readonly upstreamIndex: unknown;
  /** A tool's input that came in the block's start. It counts if no piece of input follows. */
  input: string;
}

/** Reads the blocks of a stream. Unknown kinds are left out, and the others are renumbered. */
export function createBlockDecoder(): BlockDecoder {
  return new BlockDecoder();
}

class BlockDecoder {
  #blocks = 0;
  #open: OpenBlock | 'unknown' | undefined;

  isOpen(): boolean {
    return this.#open !== undefined;
  }

  start({ index: upstreamIndex, content_block: content }: Json): InferenceEvent[] {
    if (this.#open !== undefined || !isObject(content)) {
      throw brokenAnswer('a block begins out of order');
    }
    const block = decodeBlockStart(content);
    if (block === undefined) {
      this.#open = 'unknown';
      return [];
    }
    const index = this.#blocks;
    this.#blocks += 1;
    this.#open = { index, upstreamIndex, input: inputOf(content) };
    const events: InferenceEvent[] = [{ type: 'block_start', index, block }];
    for (const delta of readDeltas(content)) events.push({ type: 'delta', index, delta });
    return events;
  }

  addDelta(payload: Json): InferenceEvent[] {
    const open = this.#open;
    if (open === 'unknown') return [];
    const { delta } = payload;
    if (open === undefined || payload['index'] !== open.upstreamIndex || !isObject(delta)) {
      throw brokenAnswer('a delta belongs to no block');
    }
    const { index } = open;
    const deltas = readDeltas(delta);
    if (deltas.some(({ type }) => type === 'input_json')) open.input = '';
    return deltas.map((inner) => ({ type: 'delta', index, delta: inner }));
  }

  stop(): InferenceEvent[] {
    const block = this.#open;
    this.#open = undefined;
    if (block === undefined) throw brokenAnswer('a block ends that has not begun');
    if (block === 'unknown') return [];
    const { index, input } = block;
    const end: InferenceEvent = { type: 'block_stop', index };
    if (input === '') return [end];
    return [{ type: 'delta', index, delta: { type: 'input_json', json: input } }, end];
  }
}

/** Counts the content bytes of a whole block: those of the deltas that its events would have. */
export function countBlockBytes(content: unknown): number {
  if (!isObject(content)) throw brokenAnswer('a block begins out of order');
  if (decodeBlockStart(content) === undefined) return 0;
  return (
    countUtf8Bytes(readText(content, 'text') ?? '') +
    countUtf8Bytes(readText(content, 'thinking') ?? '') +
    countUtf8Bytes(readText(content, 'partial_json') ?? '') +
    countUtf8Bytes(inputOf(content))
  );
}

function inputOf({ type, input }: Json): string {
  const hasFields = isObject(input) && Object.keys(input).length > 0;
  return type === 'tool_use' && hasFields ? writeInput(input) : '';
}

function decodeBlockStart(content: Json): BlockStart | undefined {
  switch (content['type']) {
    case 'text':
      return { type: 'text' };
    case 'thinking':
      return { type: 'thinking' };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: readText(content, 'data') ?? '' };
    case 'tool_use': {
      const id = readText(content, 'id');
      const name = readText(content, 'name');
      if (id === undefined || name === undefined) throw brokenAnswer('a tool has no name');
      return { type: 'tool_use', id, name };
    }
    default:
      return undefined;
  }
}

/** Reads the content of a delta or of a block's start. Citations and newer kinds are ignored. */
function readDeltas(fields: Json): BlockDelta[] {
  const deltas: BlockDelta[] = [];
  const text = readText(fields, 'text');
  if (text !== undefined) deltas.push({ type: 'text', text });
  const thinking = readText(fields, 'thinking');
  if (thinking !== undefined) deltas.push({ type: 'thinking', thinking });
  const signature = readText(fields, 'signature');
  if (signature !== undefined) deltas.push({ type: 'signature', signature });
  const json = readText(fields, 'partial_json');
  if (json !== undefined) deltas.push({ type: 'input_json', json });
  return deltas;
}
