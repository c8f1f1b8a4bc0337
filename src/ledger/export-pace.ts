/** How the exporter divides its time; tests are in more of a hurry. */
export interface ExportPace {
  readonly roundMs: number;
  /** A segment gathers for so long, unless it is full before. */
  readonly gatherMs: number;
  /** Younger entries may still be lost in a failover, and come back under other ids. */
  readonly entryAgeMs: number;
  /** How long entries stay in Redis after they could have gone. */
  readonly keepMs: number;
  readonly leaseMs: number;
  readonly segmentEntriesMax: number;
  readonly segmentBytesMax: number;
}

export const LEDGER_KEEP_MS = 600_000;

export const EXPORT_PACE: ExportPace = {
  roundMs: 1_000,
  gatherMs: 30_000,
  entryAgeMs: 5_000,
  keepMs: LEDGER_KEEP_MS,
  leaseMs: 10_000,
  segmentEntriesMax: 50_000,
  segmentBytesMax: 16 * 1024 ** 2,
};
