/** Two figures that ought to be equal: one of the books, one of Redis. */
export interface Drift {
  readonly account: string;
  /** Null when it is about the account itself. */
  readonly key: string | null;
  /** Null when it is about all months. */
  readonly month: string | null;
  readonly what: 'balance_micros' | 'held_micros' | 'spent_micros' | 'in_flight';
  /** By the books, or by the holds. */
  readonly expected: number;
  /** In the record. */
  readonly found: number;
}

/** An account that the books charge and Redis does not know. */
export interface UnknownAccount {
  readonly account: string;
  readonly entries: number;
  readonly charged_micros: number;
}

/** A sum in the books that does not follow from what it sums up. */
export interface SumDrift {
  /** `2026-11-23`, or `2026-11` for a month; null when it is about all days. */
  readonly day: string | null;
  /** The table that has the sum, or `archive`, or `entries` when they are not what they were. */
  readonly table: string;
  /** Which row of the table, such as its account and model; empty for the table as a whole. */
  readonly row: string;
  readonly column: string;
  /** How much the sum is too high. */
  readonly excess: number;
}

/** Holds that ran out, and whose requests nobody settled. */
export interface UnsettledHolds {
  readonly holds: number;
  readonly held_micros: number;
  /** What was noted when they were renewed last. */
  readonly charged_micros: number;
  /** When the last of them ran out; null when there is none. */
  readonly last_at: string | null;
}

/** Somebody has seen a difference and leaves it as it is. */
export interface Acceptance {
  /** Such as `drift acct_1 balance`. */
  readonly finding: string;
  /** It holds for exactly this much; null if there is no amount. */
  readonly excess_micros: number | null;
  readonly reason: string;
  /** The user and the machine. */
  readonly by: string;
  readonly accepted_at: string;
}

/** Names are those of the command's JSON. */
export interface LedgerReport {
  readonly is_clean: boolean;
  /** In the books, and in the streams behind them. */
  readonly entries: number;
  readonly accounts: number;
  readonly key_months: number;
  readonly drifts: readonly Drift[];
  readonly unknown_accounts: readonly UnknownAccount[];
  /** The first of each table and day. */
  readonly sum_drifts: readonly SumDrift[];
  /** What is wrong with days that have left the books, in words. */
  readonly archive_problems: readonly string[];
  /** Days whose entries were read; the others were read before, and have not changed. */
  readonly days_read: number;
  readonly days: number;
  /** How often Redis had trimmed entries before they were read. */
  readonly gaps: number;
  /** Events that came under two ids; an account that paid twice shows as drift. */
  readonly repeats: number;
  /** Late entries that wait to be compared with the archive. What they explain is no drift. */
  readonly doubtful: number;
  /** Entries that nobody could decode. */
  readonly damaged: number;
  /** Which of the above no longer count. */
  readonly accepted: readonly Acceptance[];
  /** Not a disagreement: what a node had not settled when it was lost, with its journal. */
  readonly unsettled: UnsettledHolds;
}

/** In how many places the books and Redis disagree, without what is accepted. */
export function countProblems(report: Omit<LedgerReport, 'is_clean'>): number {
  const {
    drifts,
    unknown_accounts: unknown,
    sum_drifts: sums,
    archive_problems: archives,
  } = report;
  const found = drifts.length + unknown.length + sums.length + archives.length;
  return found + report.damaged + report.gaps - report.accepted.length;
}
