import type { Log } from '../../lib/log.ts';
import { createDeferred, type Deferred } from '../../lib/time/deferred.ts';
import type { Settlement } from '../settlement/settlement.ts';
import { type JournalFiles, type JournalFilesOptions, openJournalFiles } from './journal-files.ts';
import type { JournalSegment } from './journal-segment.ts';

/** Settlements in memory. Any further settlements stay on the disk until their turn comes. */
const LOADED_MAX = 50_000;
const LOAD_BELOW = 1_000;
/** A file that cannot be read may be readable later, and its settlements become too old. */
const READ_AGAIN_MS = 30_000;

export interface JournalFeed extends Pick<JournalFiles, 'append'> {
  /** How many settlements of the journal have not ended. */
  readonly depth: number;
  /** One settlement of this segment does not need the journal any more. */
  noteEnd(segment: JournalSegment): void;
  /** Resolves when no settlement is left. */
  waitUntilEmpty(): Promise<void>;
  close(): Promise<void>;
}

interface JournalFeedOptions
  extends Pick<JournalFilesOptions, 'dir' | 'segmentBytesMax' | 'bytesMax'> {
  readonly loadedCount: () => number;
  /** The settlement is in memory now. The caller reports its end with `noteEnd`. */
  readonly onLoaded: (settlement: Settlement, segment: JournalSegment) => void;
  readonly log: Log;
}

/**
 * Gives out each settlement of the journal once. A new settlement is given out when it is on the
 * disk. Settlements of earlier runs, and those that did not fit in memory, follow segment by
 * segment whenever few are left in memory.
 */
export async function openJournalFeed(options: JournalFeedOptions): Promise<JournalFeed> {
  const { loadedCount, onLoaded, log, ...limits } = options;
  const unreadable = setAside(() => void loadMore());
  let isLoading = false;
  let isClosed = false;
  let emptied: Deferred | undefined;

  const giveOut = (settlements: readonly Settlement[], segment: JournalSegment) => {
    for (const settlement of settlements) onLoaded(settlement, segment);
  };

  const files = await openJournalFiles({
    ...limits,
    isLoadingNext: () => loadedCount() < LOADED_MAX,
    onWritten(settlements, segment) {
      if (segment.isLoaded) giveOut(settlements, segment);
      else void loadMore();
    },
    log,
  });
  const { segments } = files;

  const findUnread = (): JournalSegment | undefined => {
    if (isClosed || loadedCount() >= LOAD_BELOW) return undefined;
    return [...segments].find((segment) => !segment.isLoaded && !unreadable.has(segment));
  };

  const loadMore = async (): Promise<void> => {
    if (isLoading) return;
    isLoading = true;
    for (let segment = findUnread(); segment !== undefined; segment = findUnread()) {
      try {
        giveOut(await files.load(segment), segment);
        await removeEmpty(segment);
      } catch (error) {
        if (!isClosed) unreadable.add(segment);
        const { path } = segment;
        log.error({ path, err: error }, 'a file of the settle journal cannot be read, and waits');
      }
    }
    isLoading = false;
  };

  const removeEmpty = async (segment: JournalSegment): Promise<void> => {
    if (segment.left > 0 || isClosed) return;
    await files.remove(segment).catch((error: unknown) => {
      log.error({ path: segment.path, err: error }, 'a settled file of the journal stays');
    });
  };

  const depth = () => [...segments].reduce((sum, { left }) => sum + left, 0);

  void loadMore();
  return {
    append: files.append,
    get depth() {
      return depth();
    },
    noteEnd(segment) {
      segment.left--;
      void removeEmpty(segment);
      void loadMore();
      if (depth() === 0) emptied?.resolve();
    },
    waitUntilEmpty() {
      emptied = createDeferred();
      if (depth() === 0) emptied.resolve();
      return emptied.promise;
    },
    close() {
      isClosed = true;
      unreadable.stop();
      return files.close();
    },
  };
}

/** Segments that could not be read, until it is time to try them again. */
function setAside(tryAgain: () => void) {
  const segments = new Set<JournalSegment>();
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    timer = undefined;
    segments.clear();
    tryAgain();
  };
  return {
    has: (segment: JournalSegment) => segments.has(segment),
    add(segment: JournalSegment) {
      segments.add(segment);
      timer ??= setTimeout(end, READ_AGAIN_MS);
    },
    stop: () => clearTimeout(timer),
  };
}
