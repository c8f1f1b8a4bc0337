import type { IngestReport } from './thread-messages.ts';

/**
 * The thread reports every second, unless it stands still. A file of the books that another process
 * writes may hold it up for 20 s.
 */
const AGE_MAX_MS = 30_000;

interface ReportMemory {
  note(report: IngestReport): void;
  /** To be called when the thread has ended. */
  forget(): void;
  /** The last report, unless it is too old to say anything of now. */
  read(): IngestReport | undefined;
}

export function keepReport(elapsedMs = () => performance.now()): ReportMemory {
  let last: { readonly report: IngestReport; readonly notedMs: number } | undefined;
  return {
    note(report) {
      last = { report, notedMs: elapsedMs() };
    },
    forget() {
      last = undefined;
    },
    read() {
      if (last === undefined || elapsedMs() - last.notedMs > AGE_MAX_MS) return undefined;
      return last.report;
    },
  };
}
