import { createFairShare, type Holder } from '../lib/collections/fair-share.ts';
import { createDeadlineList, type Deadline } from '../timers/deadline-list.ts';

/** Each unread answer still takes a place at its upstream. */
const ANSWERS_MAX = 256;
/** Bytes of requests whose answers have not begun: they stay in memory until then. */
const REQUEST_BYTES_MAX = 64 * 1024 * 1024;

/** An answer whose client has left. */
export interface UnreadAnswer {
  readonly accountId: string;
  /** The memory that its request takes up. */
  readonly requestBytes: number;
  stop(): void;
}

export type UnreadPlace = Deadline<UnreadAnswer>;

/**
 * Answers of one worker whose clients have left, and that are still read to learn what they cost.
 * If there is no room, the account with the most gives way: many cheap answers of one account
 * must not leave expensive ones of others unpaid.
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

/** Without a timeout, no answer is read after its client has left. */
export function createUnreadList(timeoutMs: number | undefined): UnreadList {
  const hidingModels = new Set<string>();
  const open = new Map<UnreadPlace, Holder>();
  const [places, requestBytes] = [createFairShare(ANSWERS_MAX), createFairShare(REQUEST_BYTES_MAX)];
  let isClosed = timeoutMs === undefined;

  const deadlines = createDeadlineList<UnreadAnswer>({
    afterMs: timeoutMs ?? 0,
    nowMs: () => performance.now(),
    onDue: (answer) => answer.stop(),
  });

  return {
    get count() {
      return open.size;
    },
    begin(answer) {
      if (isClosed) return undefined;
      const { accountId, requestBytes: bytes } = answer;
      const holder = { giveWay: () => answer.stop() };
      const hasRoom =
        places.makeRoom(holder, accountId, 1) && requestBytes.makeRoom(holder, accountId, bytes);
      if (!hasRoom) return undefined;
      places.add(holder, accountId, 1);
      requestBytes.add(holder, accountId, bytes);
      const place = deadlines.add(answer);
      open.set(place, holder);
      return place;
    },
    end(place) {
      const holder = place && open.get(place);
      if (place === undefined || holder === undefined) return;
      open.delete(place);
      deadlines.delete(place);
      const { accountId } = place.item;
      for (const share of [places, requestBytes]) share.remove(holder, accountId);
    },
    noteHiding: (model) => hidingModels.add(model),
    hides: (model) => hidingModels.has(model),
    close() {
      isClosed = true;
      for (const { item } of [...open.keys()]) item.stop();
    },
  };
}
