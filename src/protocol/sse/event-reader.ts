import type { InferenceEvent } from '../inference.ts';
import { isBlankEvent } from './sse-decoder.ts';
import { createSseSplitter } from './sse-splitter.ts';
import type { StreamDecoder } from './stream-decoder.ts';
import { createTextFrames } from './text-frames.ts';

/** Reads a stream that has to be re-encoded in another format. */
export interface EventReader {
  /**
   * Adds the events that this chunk completes. If the upstream fails, it adds the events before the
   * failure and throws a `Refusal`. Returns whether the chunk completes anything: also a comment,
   * or an event that says nothing, which shows that the upstream is alive.
   */
  push(chunk: Uint8Array, events: InferenceEvent[]): boolean;
  /** Says that the stream has ended. */
  end(events: InferenceEvent[]): void;
}

export function createEventReader(decoder: StreamDecoder): EventReader {
  const splitter = createSseSplitter();
  const texts = createTextFrames();

  return {
    push(chunk, events) {
      const nextFrame = splitter.open(chunk);
      let hasFrame = false;
      for (let start = 0; start < chunk.length; ) {
        if (splitter.isBetweenFrames()) start = texts.read(chunk, start, events);
        const frame = nextFrame(start);
        if (frame === undefined) break;
        hasFrame = true;
        start = frame.end;
        if (frame.event === undefined || isBlankEvent(frame.event)) continue;
        const decoded = decoder.decode(frame.event);
        texts.learn(frame.bytes, decoded);
        for (const event of decoded) events.push(event);
      }
      return hasFrame || events.length > 0;
    },
    end(events) {
      for (const event of decoder.end()) events.push(event);
    },
  };
}
