import { toProblem } from './api-problem.ts';
import type { Query } from './api-types.ts';
import { fetchAdmin } from './fetch-admin.ts';

const READ_TIME_MAX_MS = 600_000;

/** Saves an answer as a file. A plain link could not carry the token. */
export async function saveFile(path: string, query: Query, name: string): Promise<void> {
  const response = await fetchAdmin(path, {
    query,
    signal: AbortSignal.timeout(READ_TIME_MAX_MS),
  });
  const file = await response.blob().catch((cause: unknown) => {
    throw toProblem(cause);
  });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // When the click returns, the browser has already taken hold of the file.
  URL.revokeObjectURL(link.href);
}
