import type { RequestRecord } from '../gateway/request-record.ts';
import type { Clock } from '../lib/time/clock.ts';
import { encodeLineHead, encodeRequestLine } from './encode-request-line.ts';
import { isTrouble } from './is-trouble.ts';
import { createLineWriter } from './line-writer.ts';

/** How long the end of a worker waits for a reader of its last lines. */
const CLOSE_MAX_MS = 1_000;

interface RequestLogOptions {
  /** Requests with trouble are always logged. With `sampled`, so is `share` of the others. */
  readonly lines: 'errors' | 'sampled' | 'all';
  readonly share: number;
  readonly pid: number;
  readonly from: string;
  readonly fd: number;
  /** Turns a line of JSON into the line that is written. */
  readonly shapeLine: (json: string) => string;
  readonly clock: Clock;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
  /** Counts each missing line once. */
  readonly onDropped: (count: number) => void;
}

export interface RequestLog {
  note(record: RequestRecord): void;
  close(): Promise<void>;
}

/** Writes one line for each request that is worth one. */
export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { lines, share, pid, from, fd, shapeLine, clock, random, onDropped } = options;
  let headMs = 0;
  let head = '';

  /** Formatting the time is expensive, and all lines of a millisecond share it. */
  const headAt = (nowMs: number): string => {
    if (nowMs !== headMs) {
      headMs = nowMs;
      head = encodeLineHead(pid, from, nowMs);
    }
    return head;
  };
  const writer = createLineWriter({
    fd,
    onDropped,
    describeDropped: (count) =>
      shapeLine(
        `{"level":40,${headAt(clock.nowMs())},"dropped":${count},"msg":"request lines dropped"}\n`,
      ),
  });
  const isWanted = (hasTrouble: boolean) =>
    hasTrouble || lines === 'all' || (lines === 'sampled' && random() < share);
  return {
    note(record) {
      const hasTrouble = isTrouble(record);
      if (!isWanted(hasTrouble)) return;
      const head = headAt(clock.nowMs());
      writer.write(shapeLine(encodeRequestLine(record, { head, isTrouble: hasTrouble })));
    },
    close: () => writer.close(CLOSE_MAX_MS),
  };
}
