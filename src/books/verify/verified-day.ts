import type { EntrySums } from './check-entries.ts';
import type { UnsettledOfDay } from './sum-unsettled.ts';

/** `days.verified`: what the entries of a closed day were when they were compared. */
export interface VerifiedDay extends EntrySums {
  /** Those that the rollups have: all but refused requests. */
  readonly entries: number;
  readonly unsettled: UnsettledOfDay;
  readonly verified_ms: number;
}

/** Undefined for a day that was not verified yet, and for what a later version wrote. */
export function decodeVerifiedDay(text: string | null): VerifiedDay | undefined {
  if (text === null) return undefined;
  const day = JSON.parse(text) as Partial<VerifiedDay>;
  const names = ['rows', 'entries', 'held', 'charged', 'short', 'checksum', 'verified_ms'] as const;
  const isWhole = names.every((name) => typeof day[name] === 'number') && day.unsettled;
  return isWhole ? (day as VerifiedDay) : undefined;
}

/** What an archive has of a day. */
type ArchivedSums = Pick<EntrySums, 'rows' | 'held' | 'charged' | 'short'>;

/** Reads the sums in the manifest of an archived day, `days.archive`. */
export function decodeManifest(text: string | null): ArchivedSums | undefined {
  if (text === null) return undefined;
  const manifest = JSON.parse(text) as Readonly<Record<keyof ArchivedSums, unknown>>;
  const found = {
    rows: Number(manifest.rows),
    held: Number(manifest.held),
    charged: Number(manifest.charged),
    short: Number(manifest.short),
  };
  return Object.values(found).every(Number.isSafeInteger) ? found : undefined;
}
