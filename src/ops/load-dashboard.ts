import { loadPageFiles, PAGE_SECURITY_HEADERS } from '../page-files/load-page-files.ts';
import type { OpsAnswer } from './ops-answer.ts';

/** What stands in the place of pages that are not there. */
export const answerNotBuilt = (what: string): OpsAnswer => ({
  status: 404,
  body: `The ${what} has not been built: run "npm run build" and start again.\n`,
  headers: { ...PAGE_SECURITY_HEADERS, 'content-type': 'text/plain; charset=utf-8' },
});

/** What the dashboard's paths are answered with. */
export function loadDashboard(dir: string): ReadonlyMap<string, OpsAnswer> {
  const files = loadPageFiles(dir);
  if (files.size === 0) return new Map([['/', answerNotBuilt('dashboard')]]);
  return new Map([...files].map(([path, file]) => [path, { status: 200, ...file }]));
}
