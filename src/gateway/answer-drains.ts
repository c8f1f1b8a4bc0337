import { createDeadlineList, type Deadline } from '../timers/deadline-list.ts';

/** Each of them has a place at its upstream. */
const ANSWERS_MAX = 256;
/** Of requests whose answers had not begun: they stay in memory until then. */
const REQUEST_BYTES_MAX = 64 * 1024 * 1024;

/** An answer whose client has left. */
export interface UnreadAnswer {
  /** What its request takes up. */
  readonly requestBytes: number;
  stop(): void;
}

export type Drain = Deadline<UnreadAnswer>;

/** Answers that are read on when their clients have left, for what they cost: all of a worker. */
export interface AnswerDrains {
  readonly count: number;
  /** `undefined` where there is no room, or no time any more: the answer is to be stopped. */
  begin(answer: UnreadAnswer): Drain | undefined;
  end(drain: Drain | undefined): void;
  /** Answers of this model hide what they were not asked for. */
  noteHiding(model: string): void;
  hides(model: string): boolean;
  /** Stops all, and begins no other. */
  close(): void;
}

/** Without a time, nothing is drained. */
export function createAnswerDrains(timeoutMs: number | undefined): AnswerDrains {
  const hidingModels = new Set<string>();
  /** With what each takes up. */
  const open = new Map<Drain, number>();
  let requestBytes = 0;
  let isClosed = timeoutMs === undefined;

  const deadlines = createDeadlineList<UnreadAnswer>({
    afterMs: timeoutMs ?? 0,
    nowMs: () => performance.now(),
    onDue: (answer) => answer.stop(),
  });
  const hasRoomFor = (bytes: number) =>
    open.size < ANSWERS_MAX && requestBytes + bytes <= REQUEST_BYTES_MAX;

  return {
    get count() {
      return open.size;
    },
    begin(answer) {
      const bytes = answer.requestBytes;
      if (isClosed || !hasRoomFor(bytes)) return undefined;
      const drain = deadlines.add(answer);
      open.set(drain, bytes);
      requestBytes += bytes;
      return drain;
    },
    end(drain) {
      const bytes = drain && open.get(drain);
      if (drain === undefined || bytes === undefined) return;
      open.delete(drain);
      deadlines.delete(drain);
      requestBytes -= bytes;
    },
    noteHiding: (model) => hidingModels.add(model),
    hides: (model) => hidingModels.has(model),
    close() {
      isClosed = true;
      for (const { item } of [...open.keys()]) item.stop();
    },
  };
}
