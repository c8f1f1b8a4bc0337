import { toProblem } from '../../api/api-problem.ts';
import { fetchAdmin } from '../../api/fetch-admin.ts';
import { readInTurn } from '../../api/read-in-turn.ts';
import { type LedgerEntry, parseLedgerLine, sortEntries } from './ledger-line.ts';

/** The page holds everything that it shows. */
const ENTRIES_MAX = 10_000;
/** Includes the time to wait for other readers. */
const READ_TIME_MAX_MS = 120_000;

interface LedgerQuestion {
  readonly account: string;
  readonly from?: string;
}

export interface LedgerPart {
  /** The newest first. */
  readonly entries: readonly LedgerEntry[];
  /** False if some entries are on another node. */
  readonly isComplete: boolean;
  /** Whether there were more entries than the page holds. */
  readonly isCut: boolean;
}

/** The stream has no order, so all of it has to be read before the newest entry is known. */
export function fetchLedger(question: LedgerQuestion, leaving: AbortSignal): Promise<LedgerPart> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(READ_TIME_MAX_MS)]);
  return readInTurn(signal, async () => {
    const entries: LedgerEntry[] = [];
    let isComplete = true;
    for await (const line of streamLedger(question, signal)) {
      if (entries.length === ENTRIES_MAX) {
        return { entries: sortEntries(entries), isComplete, isCut: true };
      }
      const entry = parseLedgerLine(line);
      if (entry === undefined) isComplete = false;
      else entries.push(entry);
    }
    return { entries: sortEntries(entries), isComplete, isCut: false };
  });
}

/** Yields the lines without their line ends; ends the stream if the reader stops. */
export async function* streamLedger(
  { account, from }: LedgerQuestion,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  try {
    const query = { account, from };
    const { body } = await fetchAdmin('/ledger', { query, signal: either });
    if (body === null) return;
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
    }
  } catch (cause) {
    throw toProblem(cause);
  } finally {
    leaving.abort();
  }
}
