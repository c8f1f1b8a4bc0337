import type { FileHandle } from 'node:fs/promises';
import { createSegment, type JournalSegment } from './journal-segment.ts';

export interface JournalWriter {
  /** Resolves with the segment that has the bytes, when they are on the disk. One call at a time. */
  write(bytes: Buffer): Promise<JournalSegment>;
  /** Nothing more is written to this segment, or to whichever one is open. */
  seal(segment?: JournalSegment): Promise<void>;
}

interface JournalWriterOptions {
  readonly dir: string;
  readonly lastNumber: number;
  readonly segmentBytesMax: number;
  /** Whether what is written next is kept in memory too. */
  readonly isLoadingNext: () => boolean;
  readonly onSegment: (segment: JournalSegment) => void;
}

interface OpenFile {
  readonly segment: JournalSegment;
  readonly file: FileHandle;
}

/** Writes one segment after the other, each from its beginning: those of earlier runs stay as they are. */
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
    // Counted before it exists: one that failed half-way may exist too.
    lastNumber++;
    writing = await createSegment(dir, lastNumber, isLoaded);
    onSegment(writing.segment);
    return writing;
  };

  const findPlace = async (bytes: number): Promise<OpenFile> => {
    const isLoading = isLoadingNext();
    if (writing === undefined) return await startSegment(isLoading);
    const { segment } = writing;
    // What is only on the disk shares no segment with what is in memory too.
    const isAlike = !segment.isLoaded || isLoading;
    const fits = segment.bytes + bytes <= segmentBytesMax;
    return isAlike && fits ? writing : await startSegment(isLoading);
  };

  /** After a failed write nobody knows what is on the disk behind the last good record. */
  const abandon = async ({ segment, file }: OpenFile) => {
    writing = undefined;
    await file.truncate(segment.bytes).catch(() => {});
    await file.close().catch(() => {});
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
      place.segment.bytes += bytes.length;
      return place.segment;
    },
    async seal(segment) {
      if (segment === undefined || writing?.segment === segment) await end();
    },
  };
}
