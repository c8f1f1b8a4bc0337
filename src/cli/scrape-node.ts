import type { AdminSource } from '../config/source/read-admin-source.ts';
import type { Scrape } from '../top/build-view.ts';
import { parseMetrics } from '../top/parse-metrics.ts';
import { readCluster } from '../top/read-cluster.ts';
import { fetchFromNode, refuseAnswer, refuseWithoutToken } from './admin-client.ts';
import { CommandFailure } from './command-failure.ts';

const ANSWER_TIME_MAX_MS = 5_000;

/**
 * Asks a node for its metrics and its state. Throws if it cannot be reached, or refuses the token.
 */
export async function scrapeNode(source: AdminSource): Promise<Scrape> {
  const problems: string[] = [];
  const readPart = async <Part>(path: string, read: (text: string) => Part) => {
    const response = await askNode(source, path);
    const text = await response.text();
    if (isTokenRefused(response)) throw refuseAnswer(response.status, parseJson(text), source.url);
    if (!response.ok) {
      problems.push(`${path} answers with status ${response.status}`);
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

async function askNode({ url, token, tokenPath }: AdminSource, path: string): Promise<Response> {
  if (token === undefined) throw refuseWithoutToken(tokenPath);
  try {
    return await fetchFromNode(url, path, {
      headers: { authorization: `Bearer ${token.reveal()}` },
      signal: AbortSignal.timeout(ANSWER_TIME_MAX_MS),
    });
  } catch (cause) {
    if (cause instanceof CommandFailure) throw cause;
    throw new CommandFailure(
      `cannot reach the node at ${url}: is it running? For another one, set --url or TOLLGATE_ADMIN_URL`,
      { cause },
    );
  }
}

/** After too many wrong tokens, the node answers 429 and asks the caller to wait. */
function isTokenRefused({ status }: Response): boolean {
  return status === 401 || status === 429;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
