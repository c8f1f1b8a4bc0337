import { countUtf8Bytes } from '../../lib/bytes/count-utf8-bytes.ts';
import type { BlockDelta, BlockStart, InferenceEvent } from '../inference.ts';
import { brokenAnswer, oversizedAnswer } from '../json/upstream-json.ts';
import { OWN_SIGNATURE } from '../own-signature.ts';
import type { TextNotes } from '../responses/text-notes.ts';
import { createJsonTracker, type JsonTracker } from './json-tracker.ts';

/** How much an upstream may send out of order. */
export const WAITING_CHARS_MAX = 4 * 1024 * 1024;
export const WAITING_BLOCKS_MAX = 1_024;

type Speech = Exclude<BlockStart, { type: 'redacted_thinking' }>;

/** One block of the answer. The first block of the queue is sent on while it comes in. */
export interface QueuedBlock {
  readonly start: Speech;
  /** Tracks the JSON of a tool's input. Only such a block has an end of its own. */
  readonly json: JsonTracker | undefined;
  stage: 'waiting' | 'open' | 'closed';
  waiting: string;
  /** The bytes of the pieces that wait. */
  waitingBytes: number;
  /** The signature that ends a thought. */
  signature: string;
  /** The notes that end a text. */
  notes: TextNotes | undefined;
  /** Whether the upstream said that the block is complete. Not every upstream says so. */
  isDone: boolean;
}

/**
 * Orders an upstream's output into blocks that come one after the other. A stream may mix the
 * pieces of several calls: the first call is sent on as it comes, and the others wait until it is
 * complete. A block ends when it is said to be complete, or when the next one has begun and, for a
 * call, when its JSON is complete. The end of the answer ends all blocks.
 *
 *   text ─▶ call 0 ─▶ call 1 ─▶ text
 *   closed   open     waiting   waiting
 */
export function createBlockQueue(): BlockQueue {
  return new BlockQueue();
}

export type { BlockQueue };

class BlockQueue {
  readonly #queue: QueuedBlock[] = [];
  #opened = 0;
  #waitingChars = 0;
  #waitingBytes = 0;

  /** How much of what came in is in no event yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Adds to the last block, or opens a new one if the last block is of another kind. */
  say(type: 'text' | 'thinking' | 'refusal', said: string): InferenceEvent[] {
    if (said === '') return [];
    const last = this.#queue.at(-1);
    if (last !== undefined && kindOf(last.start) === type) return this.add(last, said);
    const [block, events] = this.append(type === 'refusal' ? REFUSING : { type });
    return [...events, ...this.add(block, said)];
  }

  append(start: Speech): [QueuedBlock, InferenceEvent[]] {
    if (this.#queue.length >= WAITING_BLOCKS_MAX) {
      throw oversizedAnswer('too much of it is out of order');
    }
    const json = start.type === 'tool_use' ? createJsonTracker() : undefined;
    const block: QueuedBlock = {
      start,
      json,
      stage: 'waiting',
      waiting: '',
      waitingBytes: 0,
      signature: OWN_SIGNATURE,
      notes: undefined,
      isDone: false,
    };
    this.#queue.push(block);
    return [block, this.#advance(false)];
  }

  add(block: QueuedBlock, said: string): InferenceEvent[] {
    if (block.stage === 'closed') {
      if (said.trim() === '') return [];
      throw brokenAnswer('a call goes on behind its end');
    }
    block.json?.add(said);
    if (block.stage === 'open') return [...this.#emit(block, said), ...this.#advance(false)];
    const bytes = countUtf8Bytes(said);
    block.waiting += said;
    block.waitingBytes += bytes;
    this.#waitingBytes += bytes;
    this.#waitingChars += said.length;
    if (this.#waitingChars > WAITING_CHARS_MAX) {
      throw oversizedAnswer('too much of it is out of order');
    }
    return [];
  }

  /** Notes that a block is complete. */
  close(block: QueuedBlock): InferenceEvent[] {
    block.isDone = true;
    return this.#advance(false);
  }

  end(): InferenceEvent[] {
    return this.#advance(true);
  }

  #emit({ start }: QueuedBlock, said: string): InferenceEvent[] {
    if (said === '') return [];
    return [{ type: 'delta', index: this.#opened - 1, delta: toDelta(start.type, said) }];
  }

  #open(block: QueuedBlock): InferenceEvent[] {
    const said = block.waiting;
    block.stage = 'open';
    block.waiting = '';
    this.#waitingChars -= said.length;
    this.#waitingBytes -= block.waitingBytes;
    this.#opened += 1;
    const index = this.#opened - 1;
    return [{ type: 'block_start', index, block: block.start }, ...this.#emit(block, said)];
  }

  /**
   * Closes the first block and opens the next one as often as possible. At the end it closes all
   * blocks, complete or not.
   */
  #advance(isEnd: boolean): InferenceEvent[] {
    const queue = this.#queue;
    const events: InferenceEvent[] = [];
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      if (first.stage === 'waiting') events.push(...this.#open(first));
      const isFollowed = queue.length > 1 && (first.json?.isComplete() ?? true);
      if (!first.isDone && !isFollowed && !isEnd) break;
      first.stage = 'closed';
      queue.shift();
      const index = this.#opened - 1;
      if (first.start.type === 'thinking') {
        const delta: BlockDelta = { type: 'signature', signature: first.signature };
        events.push({ type: 'delta', index, delta });
      }
      const { notes } = first;
      events.push(
        notes === undefined ? { type: 'block_stop', index } : { type: 'block_stop', index, notes },
      );
    }
    return events;
  }
}

const REFUSING = { type: 'text', isRefusal: true } as const;

function kindOf(start: Speech): Speech['type'] | 'refusal' {
  return start.type === 'text' && start.isRefusal === true ? 'refusal' : start.type;
}

function toDelta(kind: Speech['type'], said: string): BlockDelta {
  switch (kind) {
    case 'text':
      return { type: 'text', text: said };
    case 'thinking':
      return { type: 'thinking', thinking: said };
    case 'tool_use':
      return { type: 'input_json', json: said };
  }
}
