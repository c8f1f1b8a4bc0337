import type { FileHandle } from 'node:fs/promises';
import { createSegment, discardSegment, type JournalSegment } from './journal-segment.ts';

export interface JournalWriter {
  /** Resolves with the segment that got the bytes when they are on the disk. One call at a time. */
  write(bytes: Buffer): Promise<JournalSegment>;
  /** Ends writing to this segment, or to the open segment if none is given. */
  seal(segment?: JournalSegment): Promise<void>;
}

interface JournalWriterOptions {
  readonly dir: string;
  readonly lastNumber: number;
  readonly segmentBytesMax: number;
  /** Whether the settlements written next are kept in memory too. */
  readonly isLoadingNext: () => boolean;
  /** Called when the first bytes of a segment are on the disk. */
  readonly onSegment: (segment: JournalSegment) => void;
}

interface OpenFile {
  readonly segment: JournalSegment;
  readonly file: FileHandle;
}

/**
 * Writes one segment after another, always starting with a new one. Segments of earlier runs stay
 * as they are.
 */
export function createJournalWriter(options: JournalWriterOptions): JournalWriter {
  const { dir, segmentBytesMax, isLoadingNext, onSegment } = options;
  let { lastNumber } = options;
  let writing: OpenFile | undefined;

  const end = async () => {
    const { file } = writing ?? {};
    writing = undefined;
    await file?.close();
  };

  const startSegment = async (isLoaded: boolean): Promise<OpenFile> => {
    await end();
    // The number is taken before the file exists, because a failed creation may leave the file
    // behind.
    lastNumber++;
    writing = await createSegment(dir, lastNumber, isLoaded);
    return writing;
  };

  const findPlace = async (bytes: number): Promise<OpenFile> => {
    const isLoading = isLoadingNext();
    if (writing === undefined) return await startSegment(isLoading);
    const { segment } = writing;
    // Settlements kept only on the disk share no segment with settlements that are in memory too.
    const isAlike = !segment.isLoaded || isLoading;
    const fits = segment.bytes + bytes <= segmentBytesMax;
    return isAlike && fits ? writing : await startSegment(isLoading);
  };

  /**
   * After a failed write it is unknown what the disk holds after the last good record. Each try on
   * a full disk makes a new file, so those that got nothing must not stay.
   */
  const abandon = async ({ segment, file }: OpenFile) => {
    writing = undefined;
    await file.truncate(segment.bytes).catch(() => {});
    await file.close().catch(() => {});
    if (segment.bytes === 0) await discardSegment(dir, segment).catch(() => {});
  };

  return {
    async write(bytes) {
      const place = await findPlace(bytes.length);
      try {
        await place.file.appendFile(bytes);
        await place.file.datasync();
      } catch (error) {
        await abandon(place);
        throw error;
      }
      const { segment } = place;
      if (segment.bytes === 0) onSegment(segment);
      segment.bytes += bytes.length;
      return segment;
    },
    async seal(segment) {
      if (segment === undefined || writing?.segment === segment) await end();
    },
  };
}
