import type { IncomingMessage } from 'node:http';
import type { Operator } from '../accounts/audit/audit-entry.ts';
import type { AuditLog } from '../accounts/audit/audit-log.ts';
import { DirectoryError } from '../accounts/directory-error.ts';
import type { Log } from '../lib/log.ts';
import type { Secret } from '../lib/secret.ts';
import { createAuthorizeAdmin } from './access/authorize-admin.ts';
import { fingerprintToken } from './access/fingerprint-token.ts';
import type { TrustConnection } from './access/limit-connections.ts';
import type { PublishEvent } from './event-hub.ts';
import type { OpsAnswer } from './ops-answer.ts';
import { receiveJsonBody } from './receive-json-body.ts';
import type { AdminCall, AdminRoute, AdminStream } from './routes/admin-route.ts';
import { type AdminRoutesOptions, findAdminRoute } from './routes/admin-routes.ts';

export interface AdminHandlerOptions extends AdminRoutesOptions {
  readonly token: Secret;
  readonly audit: Pick<AuditLog, 'add'>;
  readonly publish: PublishEvent;
  /** The id of this node, for the audit log. */
  readonly node: string;
}

interface AdminHandlerTools {
  readonly log: Log;
  readonly trust: TrustConnection;
}

/** Answers may contain keys. */
const HEADERS = { 'cache-control': 'no-store' };

export function createAdminHandler(
  options: AdminHandlerOptions,
  routes: readonly AdminRoute[],
  { log, trust }: AdminHandlerTools,
) {
  const { token, node, audit, publish } = options;
  const authorize = createAuthorizeAdmin(token);
  const fingerprint = fingerprintToken(token);

  /**
   * Reports a change that took place. From here on, a failure to report it must not fail the call.
   */
  const tell = async (
    what: string,
    who: Operator,
    { account, key = null, before = null, after }: ChangeReport,
    outcome: 'done' | 'unknown',
  ) => {
    const entry = { what, who, node, account, key, outcome, before, after };
    log.info(entry, 'changed by an operator');
    publish({ type: 'change', data: entry });
    await audit.add(entry);
  };

  return async (
    request: IncomingMessage,
    path: string,
    signal: AbortSignal,
  ): Promise<OpsAnswer | AdminStream> => {
    const { method = '', url = '', headers, socket } = request;
    const address = socket.remoteAddress ?? '';
    await authorize(headers.authorization, address);
    trust(socket);
    const { route, names } = findAdminRoute(routes, method, path);
    const query = Object.fromEntries(new URLSearchParams(url.slice(path.length)));
    const body = method === 'GET' ? undefined : await receiveJsonBody(request, route.bodyBytesMax);
    const via = headers['user-agent']?.startsWith('tollgate-cli/') ? 'cli' : 'api';
    const who: Operator = { via, token: fingerprint, address };
    const call: AdminCall = { ...names, query, body, who, signal };
    const what = typeof route.changes === 'function' ? route.changes(body) : route.changes;
    const answer = await route.handle(call).catch(async (error: unknown) => {
      // Redis was lost during the call, so the change may have taken place.
      if (what !== undefined && isStoreOut(error)) {
        await tell(what, who, unknownOf(route, names.id), 'unknown');
      }
      throw error;
    });
    if ('stream' in answer) return answer;
    const { status, change } = answer;
    if (what !== undefined && change !== undefined) {
      await tell(what, who, change, 'done');
    }
    return { status, body: answer.body, headers: HEADERS };
  };
}

interface ChangeReport {
  readonly account: string | null;
  readonly key?: string | null;
  readonly before?: object | null;
  readonly after: object | null;
}

function isStoreOut(error: unknown): boolean {
  return error instanceof DirectoryError && error.code === 'store_unavailable';
}

/** Everything that is known about a change whose answer was lost. */
function unknownOf({ path }: AdminRoute, id: string): ChangeReport {
  const isKey = path.startsWith('/admin/v1/keys/');
  const subject = id === '' ? null : id;
  return { account: isKey ? null : subject, key: isKey ? subject : null, after: null };
}
