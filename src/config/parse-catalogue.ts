import type { NamedUpstream } from './config.ts';
import { type CatalogueDocument, catalogueSchema } from './schema/catalogue-schema.ts';
import { findCatalogueConflicts } from './schema/find-catalogue-conflicts.ts';
import { problemsOfIssue } from './schema/problems-of-issue.ts';
import { formatPath, type SettingProblem } from './setting-problem.ts';

type ParsedCatalogue =
  | { readonly document: CatalogueDocument; readonly problems: readonly [] }
  | { readonly document: undefined; readonly problems: readonly string[] };

/** Reads a document with the schema of the settings file. */
export function parseCatalogue(value: unknown): ParsedCatalogue {
  const { success, data, error } = catalogueSchema.safeParse(value);
  if (success) return { document: data, problems: [] };
  return {
    document: undefined,
    problems: error.issues.flatMap(problemsOfIssue).map(formatProblem),
  };
}

/** Why a node with these upstreams cannot sell this. Empty if it can. */
export function checkCatalogue(
  document: CatalogueDocument,
  upstreams: readonly NamedUpstream[],
): readonly string[] {
  const names = new Set(upstreams.map(({ name }) => name));
  return findCatalogueConflicts(document.models, names).map(formatProblem);
}

function formatProblem({ path, message }: SettingProblem): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}
