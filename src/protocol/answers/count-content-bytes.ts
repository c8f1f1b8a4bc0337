import { countUtf8Bytes } from '../../lib/bytes/count-utf8-bytes.ts';
import type { BlockDelta, InferenceEvent } from '../inference.ts';

/** What was said; a signature is nothing that was said. */
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
  /** All others. */
  readonly events: readonly InferenceEvent[];
}

/** Counts what was said, for those who need to know no more of it. */
export function tallyDeltas(all: readonly InferenceEvent[]): ContentTally {
  let contentBytes = 0;
  const events: InferenceEvent[] = [];
  for (const event of all) {
    if (event.type === 'delta') contentBytes += countContentBytes(event.delta);
    else events.push(event);
  }
  return { contentBytes, events };
}
