import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempFolder } from './start-redis-server.ts';

/** A wall clock that the test sets while processes run by it. */
export interface FakeClock {
  /** Of a process that runs by it. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets it this far ahead of the clock of this machine. */
  set(aheadSeconds: number): void;
}

/** The loader expands `$LIB`. */
export const FAKE_CLOCK_LIBRARY = '/usr/$LIB/faketime/libfaketimeMT.so.1';

/** The monotonic clock goes on, as with a real step. */
export function createFakeClock(aheadSeconds: number): FakeClock {
  const path = join(makeTempFolder(), 'ahead');
  const set = (seconds: number) => {
    writeFileSync(`${path}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(`${path}.new`, path);
  };
  set(aheadSeconds);
  return {
    set,
    env: {
      LD_PRELOAD: FAKE_CLOCK_LIBRARY,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  };
}
