import type { IncomingMessage } from 'node:http';
import type { Secret } from '../lib/secret.ts';
import { type AdminRoutesOptions, createAdminRoutes, findAdminRoute } from './admin-routes.ts';
import { createAuthorizeAdmin } from './authorize-admin.ts';
import type { OpsAnswer, OpsLines } from './ops-answer.ts';
import { readJsonBody } from './read-json-body.ts';

interface AdminHandlerOptions extends AdminRoutesOptions {
  readonly token: Secret;
}

/** Answers may have keys in them. */
const HEADERS = { 'cache-control': 'no-store' };

export function createAdminHandler(options: AdminHandlerOptions) {
  const authorize = createAuthorizeAdmin(options.token);
  const routes = createAdminRoutes(options);

  return async (request: IncomingMessage, path: string): Promise<OpsAnswer | OpsLines> => {
    const { method = '', url = '' } = request;
    await authorize(request.headers.authorization, request.socket.remoteAddress ?? '');
    const { route, id } = findAdminRoute(routes, method, path);
    const query = Object.fromEntries(new URLSearchParams(url.slice(path.length)));
    const body = method === 'GET' ? undefined : await readJsonBody(request);
    return { ...(await route.handle({ id, query, body })), headers: HEADERS };
  };
}
