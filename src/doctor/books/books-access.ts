import type { Clock } from '../../lib/time/clock.ts';
import type { Finding } from '../finding.ts';

/** What the checks need of the books, whichever engine they have. */
export interface BooksAccess {
  /** What answers, for people. */
  readonly name: string;
  /** Undefined if they are empty. */
  readonly contents: BooksContents | undefined;
  checkLatency(): Promise<Finding>;
  checkVersion(): Promise<Finding>;
  checkRights(): Promise<Finding>;
  checkPersistence(): Promise<Finding>;
  checkClock(clock: Clock): Promise<Finding>;
  checkSpace(): Promise<Finding>;
  close(): Promise<void>;
}

export interface BooksContents {
  readonly id: string;
  readonly migrations: readonly number[];
}
