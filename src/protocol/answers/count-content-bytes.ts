import { countUtf8Bytes } from '../../lib/bytes/count-utf8-bytes.ts';
import type { BlockDelta, InferenceEvent } from '../inference.ts';

/** Counts the bytes of the content in a delta. A signature is not content. */
export function countContentBytes(delta: BlockDelta): number {
  switch (delta.type) {
    case 'text':
      return countUtf8Bytes(delta.text);
    case 'thinking':
      return countUtf8Bytes(delta.thinking);
    case 'input_json':
      return countUtf8Bytes(delta.json);
    case 'signature':
      return 0;
  }
}

export interface ContentTally {
  readonly contentBytes: number;
  /** All other events. */
  readonly events: readonly InferenceEvent[];
}

/** Adds up the content of all deltas, for callers that need no more of them than its length. */
export function tallyDeltas(all: readonly InferenceEvent[]): ContentTally {
  let contentBytes = 0;
  const events: InferenceEvent[] = [];
  for (const event of all) {
    if (event.type === 'delta') contentBytes += countContentBytes(event.delta);
    else events.push(event);
  }
  return { contentBytes, events };
}
