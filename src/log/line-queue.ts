/** The most bytes of lines that nobody has read yet. More lines are dropped and counted. */
export const QUEUE_BYTES_MAX = 1_048_576;
/**
 * The count of dropped lines is logged when all other lines are written, or when it reaches this.
 */
const DROPPED_UNLOGGED_MAX = 1_000;

export interface Chunk {
  /** Whole lines. */
  readonly text: string;
  /** How many lines are missing from the log if this chunk is not written. */
  readonly lines: number;
  /** Whether these lines are already counted as dropped, and the text only reports them. */
  readonly isNotice: boolean;
}

export interface LineQueue {
  /** Whether this line has made a chunk full. */
  add(line: string): boolean;
  /** The chunk to write next, which may be a notice about dropped lines. */
  take(): Chunk | undefined;
  noteLost(chunk: Chunk): void;
}

const EMPTY: Chunk = { text: '', lines: 0, isNotice: false };

interface LineQueueOptions {
  readonly chunkBytesMax: number;
  /** A line that says how many lines are missing. */
  readonly describeDropped: (count: number) => string;
  /** Counts each dropped line once. */
  readonly onDropped: (count: number) => void;
}

/** Gathers lines in chunks that can be written at once. */
export function createLineQueue(options: LineQueueOptions): LineQueue {
  const { chunkBytesMax, describeDropped, onDropped } = options;
  const full: Chunk[] = [];
  let gathered = EMPTY;
  let queuedBytes = 0;
  let dropped = 0;

  const takeLines = (): Chunk | undefined => {
    let chunk = full.shift();
    if (chunk === undefined && gathered !== EMPTY) {
      chunk = gathered;
      gathered = EMPTY;
    }
    queuedBytes -= chunk?.text.length ?? 0;
    return chunk;
  };
  const takeNotice = (): Chunk | undefined => {
    if (dropped === 0) return undefined;
    const notice = { text: describeDropped(dropped), lines: dropped, isNotice: true };
    dropped = 0;
    return notice;
  };

  return {
    add(line) {
      if (queuedBytes + line.length > QUEUE_BYTES_MAX) {
        dropped += 1;
        onDropped(1);
        return false;
      }
      queuedBytes += line.length;
      const isFull = gathered !== EMPTY && gathered.text.length + line.length > chunkBytesMax;
      if (isFull) {
        full.push(gathered);
        gathered = EMPTY;
      }
      gathered = { ...gathered, text: gathered.text + line, lines: gathered.lines + 1 };
      return isFull;
    },
    take: () => (dropped >= DROPPED_UNLOGGED_MAX ? takeNotice() : (takeLines() ?? takeNotice())),
    noteLost({ lines, isNotice }) {
      dropped += lines;
      if (!isNotice) onDropped(lines);
    },
  };
}
