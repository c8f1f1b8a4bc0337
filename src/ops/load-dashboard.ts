import { loadPageFiles, PAGE_SECURITY_HEADERS } from '../page-files/load-page-files.ts';
import type { OpsAnswer } from './ops-answer.ts';

/** The answer in place of pages that have not been built. */
export const answerNotBuilt = (what: string): OpsAnswer => ({
  status: 404,
  body: `The ${what} has not been built: run "npm run build" and start again.\n`,
  headers: { ...PAGE_SECURITY_HEADERS, 'content-type': 'text/plain; charset=utf-8' },
});

/** The answers to the paths of the dashboard. */
export function loadDashboard(dir: string): ReadonlyMap<string, OpsAnswer> {
  const files = loadPageFiles(dir);
  if (files.size === 0) return new Map([['/', answerNotBuilt('dashboard')]]);
  return new Map([...files].map(([path, file]) => [path, { status: 200, ...file }]));
}
