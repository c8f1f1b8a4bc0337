import { api } from '../../api/api.ts';
import type { CatalogueReport, SoldDocument, VersionNote } from '../../api/api-types.ts';
import { type ListedVersion, listWithStates } from './list-with-states.ts';

export interface CatalogueLoad {
  /** The last version, from which a change is made. */
  readonly last: CatalogueReport;
  /** What the node sells. Undefined if it is so old that it is not kept. */
  readonly sold: SoldDocument | undefined;
  /** Empty if the settings file rules. */
  readonly versions: readonly ListedVersion[];
}

export async function readCatalogue(signal: AbortSignal): Promise<CatalogueLoad> {
  const last = await api.readCatalogue(signal);
  if (last.rules === 'file') return { last, sold: last.catalogue, versions: [] };
  const { data } = await api.listCatalogueVersions(signal);
  // A version applied between the two reads waits for the next ones: a rollback starts from
  // `last`.
  const notes = data.filter(({ version }) => version <= (last.version ?? 0));
  const number = last.sold_version ?? 0;
  const versions = listWithStates(notes, { sold: number, refused: last.refused?.version });
  return { last, sold: await readSold(last, notes, signal), versions };
}

async function readSold(
  last: CatalogueReport,
  notes: readonly VersionNote[],
  signal: AbortSignal,
): Promise<SoldDocument | undefined> {
  const number = last.sold_version ?? 0;
  if (number === last.version) return last.catalogue;
  if (!notes.some(({ version }) => version === number)) return undefined;
  return (await api.readCatalogueVersion(number, signal)).catalogue;
}
