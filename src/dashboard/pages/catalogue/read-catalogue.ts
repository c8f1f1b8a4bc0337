import type { CatalogueDocument } from '../../../config/schema/catalogue-schema.ts';
import { api } from '../../api/api.ts';
import type { Catalogue, VersionNote } from '../../api/api-types.ts';
import { type ListedVersion, listVersions } from './list-versions.ts';

export interface CatalogueState {
  /** The last version, from which a change is made. */
  readonly last: Catalogue;
  /** What the node sells. Undefined if it is so old that it is not kept. */
  readonly sold: CatalogueDocument | undefined;
  /** Empty if the settings file rules. */
  readonly versions: readonly ListedVersion[];
}

export async function readCatalogue(signal: AbortSignal): Promise<CatalogueState> {
  const last = await api.readCatalogue(signal);
  if (last.rules === 'file') return { last, sold: last.catalogue, versions: [] };
  const { data } = await api.listCatalogueVersions(signal);
  const number = last.sold_version ?? 0;
  const versions = listVersions(data, { sold: number, refused: last.refused?.version });
  return { last, sold: await readSold(last, data, signal), versions };
}

async function readSold(
  last: Catalogue,
  notes: readonly VersionNote[],
  signal: AbortSignal,
): Promise<CatalogueDocument | undefined> {
  const number = last.sold_version ?? 0;
  if (number === last.version) return last.catalogue;
  if (!notes.some(({ version }) => version === number)) return undefined;
  return (await api.readCatalogueVersion(number, signal)).catalogue;
}
