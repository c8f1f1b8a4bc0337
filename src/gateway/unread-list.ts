import { createDeadlineList, type Deadline } from '../timers/deadline-list.ts';

/** Each unread answer still takes a place at its upstream. */
const ANSWERS_MAX = 256;
/** Bytes of requests whose answers have not begun: they stay in memory until then. */
const REQUEST_BYTES_MAX = 64 * 1024 * 1024;

/** An answer whose client has left. */
export interface UnreadAnswer {
  /** The memory that its request takes up. */
  readonly requestBytes: number;
  stop(): void;
}

export type UnreadPlace = Deadline<UnreadAnswer>;

/**
 * Answers of one worker whose clients have left, and that are still read to learn what they cost.
 */
export interface UnreadList {
  readonly count: number;
  /**
   * Returns `undefined` if there is no room, or the list is closed. The caller must then stop the
   * answer.
   */
  begin(answer: UnreadAnswer): UnreadPlace | undefined;
  end(place: UnreadPlace | undefined): void;
  /** Notes that answers of this model think without being asked to, which clients do not see. */
  noteHiding(model: string): void;
  hides(model: string): boolean;
  /** Stops all answers and begins no other. */
  close(): void;
}

/** Without a timeout, no answer is read on. */
export function createUnreadList(timeoutMs: number | undefined): UnreadList {
  const hidingModels = new Set<string>();
  /** The request bytes of each answer. */
  const open = new Map<UnreadPlace, number>();
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
      const place = deadlines.add(answer);
      open.set(place, bytes);
      requestBytes += bytes;
      return place;
    },
    end(place) {
      const bytes = place && open.get(place);
      if (place === undefined || bytes === undefined) return;
      open.delete(place);
      deadlines.delete(place);
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
