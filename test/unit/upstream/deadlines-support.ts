import { vi } from 'vitest';
import type { AnswerPart } from '../../../src/protocol/inference.ts';
import { createAnswerDeadlines, type Overdue } from '../../../src/upstream/answer-deadlines.ts';
import { PartQueue } from '../../../src/upstream/part-queue.ts';

export const PART: AnswerPart = {
  events: [{ type: 'block_stop', index: 0 }],
  contentBytes: 0,
  bytes: undefined,
};
export const LIMITS = { firstByteMs: 6_000, idleMs: 2_000, totalMs: 20_000 };

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Sends an event after each of these times, and ignores everything, like the worst upstream. */
export async function* emitAfter(...gapsMs: number[]): AsyncGenerator<AnswerPart> {
  for (const gapMs of gapsMs) {
    await sleep(gapMs);
    yield PART;
  }
}

export const NEVER = 2 ** 30;

class WatchedParts extends PartQueue {
  readonly expiries: unknown[] = [];

  override expire(error: unknown): void {
    this.expiries.push(error);
    super.expire(error);
  }
}

/** An upstream that continues when it is asked, and its answer. */
export function start(
  events: AsyncIterable<AnswerPart>,
  limits = LIMITS,
  overdue: Overdue = 'begun',
) {
  const upstream = events[Symbol.asyncIterator]();
  const abort = () => {
    upstream.return?.().catch(() => {});
  };
  const judgeOverdue = () => overdue;
  const source = { pause: () => {}, resume: () => {}, isSent: () => true, abort, judgeOverdue };
  const timed = new WatchedParts(source, createAnswerDeadlines(limits));
  const goOn = () =>
    upstream.next().then(
      ({ done, value }) =>
        done === true ? timed.finish() : timed.push({ ...value, bytes: undefined }, 1),
      (error: unknown) => timed.fail(error),
    );
  /** Asks for the next event. Its outcome can be read after time has passed. */
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
    void goOn();
    return asked;
  };
  return { timed, ask, aborted: timed.expiries };
}

export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
