import type { IngestReport } from './thread-messages.ts';

/**
 * The thread reports every second, unless it is blocked. Another process that writes to the file
 * of the books may block it for 20 s.
 */
const AGE_MAX_MS = 30_000;

interface ReportMemory {
  note(report: IngestReport): void;
  /** To be called when the thread has ended. */
  forget(): void;
  /** The last report, unless it is too old to describe the present. */
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
