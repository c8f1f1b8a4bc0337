import type { Operator } from '../accounts/audit/audit-entry.ts';
import type { Difference } from '../config/diff-settings.ts';
import type { CatalogueDocument } from '../config/schema/catalogue-schema.ts';
import type { VersionNote } from './catalogue-version.ts';
import type { RefusedVersion } from './known-versions.ts';

/** What is sold, for those who change it. */
interface CatalogueOverview {
  readonly rules: 'file' | 'store';
  /** The last version, which a change has to name. Undefined if the settings file rules. */
  readonly last: VersionNote | undefined;
  /** The document of the last version. */
  readonly document: CatalogueDocument;
  /** The version that this node sells. */
  readonly soldVersion: number | undefined;
  readonly refused: RefusedVersion | undefined;
}

export interface CatalogueChange {
  /** The version that the change was made from. It must be the last one. */
  readonly baseVersion: number;
  readonly document: CatalogueDocument;
  /** The time from which it holds; at once if undefined. */
  readonly fromMs: number | undefined;
  readonly who: Operator;
}

interface CatalogueRollback {
  readonly baseVersion: number;
  /** The version whose document becomes the last one again, at once. */
  readonly version: number;
  readonly who: Operator;
}

export interface AppliedVersion {
  readonly version: number;
  readonly fromMs: number;
  readonly changes: readonly Difference[];
  /** How many replicas have it; 0 also if there are none. */
  readonly replicated: number;
}

/** Every call but `read` throws a `CatalogueError` if the settings file rules. */
export interface CatalogueDesk {
  read(): Promise<CatalogueOverview>;
  /** What the change would change. Throws if it could not be applied. */
  preview(change: CatalogueChange): Promise<readonly Difference[]>;
  apply(change: CatalogueChange): Promise<AppliedVersion>;
  rollBack(rollback: CatalogueRollback): Promise<AppliedVersion>;
  /** The versions that are kept, the last first. */
  listVersions(): Promise<readonly VersionNote[]>;
  readVersion(version: number): Promise<VersionNote & { readonly document: CatalogueDocument }>;
  diff(from: number, to: number): Promise<readonly Difference[]>;
}
