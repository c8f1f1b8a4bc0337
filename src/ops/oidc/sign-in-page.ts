import { PAGE_SECURITY_HEADERS } from '../../page-files/load-page-files.ts';
import type { OpsAnswer } from '../ops-answer.ts';

/** A page for somebody whose sign-in failed. It has no script and no style. */
export function createProblemPage(
  status: number,
  problem: string,
  headers: OpsAnswer['headers'] = {},
): OpsAnswer {
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Not signed in · Tollgate</title></head>
<body>
<main>
<h1>Not signed in</h1>
<p>${escapeHtml(problem)}</p>
<p><a href="/">Back to the sign-in page</a></p>
</main>
</body>
</html>
`;
  return {
    status,
    body,
    headers: {
      ...PAGE_SECURITY_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
    },
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
