import type { QueuedBlock } from '../../answers/block-queue.ts';
import { type Json, oversizedAnswer, readText } from '../../json/upstream-json.ts';

export const ITEMS_MAX = 1_024;
/** Parts of one item. */
export const PARTS_MAX = 1_024;

type ItemType = 'message' | 'reasoning' | 'function_call' | 'custom_tool_call' | 'other';

/** One item of the output, from its beginning to its end. */
export interface OpenItem {
  readonly name: string | undefined;
  readonly type: ItemType;
  /** The blocks of a message by the number of their part, the only block of any other item. */
  readonly blocks: Map<string, QueuedBlock>;
  /** The parts of a message that are refusals. */
  readonly refusals: Set<string>;
  readonly phase: string | undefined;
  /** How many characters each part has said, as far as they were read. */
  readonly saidChars: Map<string, number>;
}

/** Undefined for an item that could be taken for another one. */
export function nameItem(place: unknown, item: Json): string | undefined {
  const id = readText(item, 'id');
  if (typeof place !== 'number' || id === undefined) return undefined;
  return `${place} ${id} ${readText(item, 'call_id')}`;
}

function readType(item: Json): ItemType {
  switch (item['type']) {
    case 'message':
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
      return item['type'];
    default:
      return 'other';
  }
}

export function openItem(name: string | undefined, item: Json): OpenItem {
  return {
    name,
    type: readType(item),
    blocks: new Map(),
    refusals: new Set(),
    phase: readText(item, 'phase'),
    saidChars: new Map(),
  };
}

export function startOf({ type, refusals }: OpenItem, part: string): QueuedBlock['start'] {
  if (type === 'reasoning') return { type: 'thinking' };
  return refusals.has(part) ? { type: 'text', isRefusal: true } : { type: 'text' };
}

export const isCall = ({ type }: OpenItem) =>
  type === 'function_call' || type === 'custom_tool_call';

export function noteSaid({ saidChars }: OpenItem, part: string, chars: number): void {
  const before = saidChars.get(part);
  if (before === undefined && saidChars.size >= PARTS_MAX) {
    throw oversizedAnswer('an item has too many parts');
  }
  saidChars.set(part, (before ?? 0) + chars);
}
