import type { AdminSource } from '../config/read-admin-source.ts';
import type { Scrape } from '../top/build-view.ts';
import { parseMetrics } from '../top/parse-metrics.ts';
import { readCluster } from '../top/read-cluster.ts';
import { CommandFailure } from './command-failure.ts';

const ANSWER_TIME_MAX_MS = 5_000;

/** Asks a node for all that it tells of itself. Throws when it cannot be reached. */
export async function scrapeNode(source: AdminSource): Promise<Scrape> {
  const problems: string[] = [];
  const readPart = async <Part>(path: string, read: (text: string) => Part) => {
    const response = await askNode(source, path);
    const text = await response.text();
    if (!response.ok) {
      problems.push(explainStatus(path, response.status));
      return undefined;
    }
    try {
      return read(text);
    } catch (error) {
      problems.push(`${path}: ${(error as Error).message}`);
      return undefined;
    }
  };
  const [metrics, cluster] = await Promise.all([
    readPart('/metrics', parseMetrics),
    readPart('/admin/v1/cluster', (text) => readCluster(JSON.parse(text))),
  ]);
  return { atMs: Date.now(), metrics, cluster, problems };
}

async function askNode({ url, token }: AdminSource, path: string): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` },
      signal: AbortSignal.timeout(ANSWER_TIME_MAX_MS),
    });
  } catch (cause) {
    throw new CommandFailure(
      `cannot reach the node at ${url}: is it running? --url or TOLLGATE_ADMIN_URL names another`,
      { cause },
    );
  }
}

function explainStatus(path: string, status: number): string {
  if (status !== 401) return `${path} answers with status ${status}`;
  return `${path} needs the admin token: set TOLLGATE_ADMIN_TOKEN, or name the data folder with --data-dir`;
}
