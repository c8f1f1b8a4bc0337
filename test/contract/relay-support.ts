import { expect } from 'vitest';
import { type ContentTally, tallyDeltas } from '../../src/protocol/answers/count-content-bytes.ts';
import type { InferenceEvent, Usage } from '../../src/protocol/inference.ts';
import { Refusal } from '../../src/protocol/refusals.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import type { StreamDecoder } from '../../src/protocol/sse/stream-decoder.ts';
import type { StreamRelay } from '../../src/protocol/sse/stream-relay.ts';
import { joinBytes } from './read-meaning.ts';

/** A whole stream, up to its end or its failure. */
export interface Reading {
  readonly events: readonly InferenceEvent[];
  readonly refusal: Refusal | undefined;
}

export function readAll(bytes: Uint8Array, decoder: StreamDecoder): Reading {
  const events: InferenceEvent[] = [];
  try {
    for (const event of createSseDecoder().push(bytes)) {
      events.push(...decoder.decode(event));
      if (events.at(-1)?.type === 'finish') return { events, refusal: undefined };
    }
    events.push(...decoder.end());
  } catch (error) {
    if (error instanceof Refusal) return { events, refusal: error };
    throw error;
  }
  return { events, refusal: undefined };
}

export function relayAll(
  relay: StreamRelay,
  chunks: readonly Uint8Array[],
): Reading & ContentTally & { readonly bytes: Uint8Array } {
  const bytes: Uint8Array[] = [];
  const events: InferenceEvent[] = [];
  let contentBytes = 0;
  let refusal: Refusal | undefined;
  let usageAtStart: Usage | undefined;
  for (const push of [...chunks.map((chunk) => () => relay.push(chunk)), () => relay.end()]) {
    const part = push();
    // After the end or a failure, nothing is passed on.
    if (refusal !== undefined || events.at(-1)?.type === 'finish') {
      expect(part).toEqual({
        ...{ bytes: [], events: [], contentBytes: 0 },
        ...{ closing: undefined, refusal: undefined, nextNumber: part.nextNumber },
      });
    }
    bytes.push(...part.bytes.map((piece) => piece.slice()));
    events.push(...part.events);
    const [start] = part.events;
    if (start?.type === 'start') usageAtStart = start.usage;
    const last = part.events.at(-1);
    const charged = last?.type === 'finish' ? (last.usage ?? usageAtStart) : undefined;
    if (charged !== undefined && part.closing !== undefined) bytes.push(part.closing(charged));
    contentBytes += part.contentBytes;
    refusal ??= part.refusal;
  }
  return { bytes: joinBytes(bytes), events, contentBytes, refusal };
}

export function rename(events: readonly InferenceEvent[], model: string): InferenceEvent[] {
  return events.map((event) => (event.type === 'start' ? { ...event, model } : event));
}

/** The events that remain after the format's own encoder writes them and they are read again. */
export function withoutCounts(events: readonly InferenceEvent[]): unknown[] {
  const [first] = events;
  const usageAtStart = first?.type === 'start' ? first.usage : undefined;
  return events.flatMap((event) => {
    if (event.type === 'usage') return [];
    if (event.type === 'start') {
      return { ...event, usage: { ...event.usage, output: 0, thinking: 0 } };
    }
    return event.type === 'finish' ? { ...event, usage: event.usage ?? usageAtStart } : event;
  });
}

/** For upstreams without secrets to hide. */
export const AS_IT_IS = (text: string) => text;

/** A stream that breaks may have been passed on further than it was decoded. */
export function expectTally(
  relayed: { readonly events: readonly InferenceEvent[]; readonly contentBytes: number },
  { events, refusal }: Reading,
): void {
  const tally = tallyDeltas(events);
  expect(relayed.events).toEqual(tally.events);
  if (refusal === undefined) expect(relayed.contentBytes).toBe(tally.contentBytes);
  else expect(relayed.contentBytes).toBeGreaterThanOrEqual(tally.contentBytes);
}
