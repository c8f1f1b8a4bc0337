import { loadPageFiles } from '../page-files/load-page-files.ts';
import { answerNotBuilt } from './load-dashboard.ts';
import type { OpsAnswer } from './ops-answer.ts';

const BASE = '/docs';
const WITHOUT_SLASH: OpsAnswer = { status: 308, body: '', headers: { location: BASE } };

/** The answers to the paths of the documentation. */
export function loadDocs(dir: string): ReadonlyMap<string, OpsAnswer> {
  const files = loadPageFiles(dir);
  if (files.size === 0) return new Map([[BASE, answerNotBuilt('documentation')]]);
  const answers = [...files].map(([path, file]): [string, OpsAnswer] => [
    path === '/' ? BASE : BASE + path,
    { status: 200, ...file },
  ]);
  return new Map([...answers, [`${BASE}/`, WITHOUT_SLASH]]);
}
