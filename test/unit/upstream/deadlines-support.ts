import { vi } from 'vitest';
import type { AnswerPart } from '../../../src/protocol/inference.ts';
import type { Refusal } from '../../../src/protocol/refusals.ts';
import { withDeadlines } from '../../../src/upstream/deadlines.ts';

export const PART: AnswerPart = {
  events: [{ type: 'block_stop', index: 0 }],
  contentBytes: 0,
  bytes: undefined,
};
export const LIMITS = { firstByteMs: 6_000, idleMs: 2_000, totalMs: 20_000 };

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** An event after each of these times; deaf to everything, like an upstream at its worst. */
export async function* tellAfter(...gapsMs: number[]): AsyncGenerator<AnswerPart> {
  for (const gapMs of gapsMs) {
    await sleep(gapMs);
    yield PART;
  }
}

export const NEVER = 2 ** 30;

export function start(events: AsyncIterable<AnswerPart>, limits = LIMITS) {
  const aborted: Refusal[] = [];
  const abort = (reason: Refusal) => {
    aborted.push(reason);
  };
  const timed = withDeadlines(events, { ...limits, abort })[Symbol.asyncIterator]();
  /** Asks for the next event; what became of it is to be read after time has passed. */
  const ask = () => {
    const asked: { got: unknown } = { got: undefined };
    timed.next().then(
      (result) => {
        asked.got = result.done === true ? 'done' : 'event';
      },
      (error: unknown) => {
        asked.got = error;
      },
    );
    return asked;
  };
  return { timed, ask, aborted };
}

export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
