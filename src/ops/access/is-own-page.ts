import type { IncomingHttpHeaders } from 'node:http';

/**
 * The dashboard sends it. A form, a link or an image of another site cannot. A script of another
 * site would have to ask first, which this listener does not allow.
 */
const SESSION_HEADER = 'x-tollgate-session';
/** Whom the page shows as signed in. */
const OPERATOR_HEADER = 'x-tollgate-operator';

/** Whether a page of this listener has sent this, so that the cookie of its session counts. */
export function isOwnPage(headers: IncomingHttpHeaders, publicOrigin: string): boolean {
  if (headers[SESSION_HEADER] === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = headers;
  if (origin === undefined || origin === publicOrigin) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/**
 * All windows of a browser have one cookie, which may have become that of somebody else since the
 * page was opened. A page that does not know yet whose it is belongs to whoever has the cookie.
 */
export function isPageOf(headers: IncomingHttpHeaders, operatorId: string | undefined): boolean {
  const shown = headers[OPERATOR_HEADER];
  return shown === undefined || shown === encodeURIComponent(operatorId ?? '');
}
