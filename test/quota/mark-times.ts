import { readFileSync } from 'node:fs';

const SCRIPTS = 'src/quota/scripts';

/** How long Redis keeps the marks of settled requests, and settles one without a mark. */
export const MARK_TIMES = {
  keptMs: readNumber('lua/money.lua', /local KEEP_S, KEEP_MIN_S = (\d+), /) * 1_000,
  keptMinMs: readNumber('lua/money.lua', /local KEEP_S, KEEP_MIN_S = \d+, (\d+)/) * 1_000,
  settledAgeMaxMs: readNumber('settle.lua', /local AGE_MAX_MS = (\d+)/),
};

function readNumber(script: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(`${SCRIPTS}/${script}`, 'utf8'))?.[1]);
}
