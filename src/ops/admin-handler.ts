import type { IncomingMessage } from 'node:http';
import type { Operator } from '../accounts/audit/audit-entry.ts';
import type { AuditLog } from '../accounts/audit/audit-log.ts';
import { DirectoryError } from '../accounts/directory-error.ts';
import type { Log } from '../lib/log.ts';
import { rolesWithin } from '../lib/role.ts';
import type { AdminCaller, CallerKind } from './access/admin-caller.ts';
import { type AuthorizeOptions, createAuthorizeAdmin } from './access/authorize-admin.ts';
import type { CallerMemory } from './access/caller-memory.ts';
import { createEndWithCaller } from './access/end-with-caller.ts';
import type { TrustConnection } from './access/limit-connections.ts';
import type { PublishEvent } from './event-hub.ts';
import type { OidcOptions } from './oidc/oidc-parts.ts';
import type { OpsAnswer } from './ops-answer.ts';
import { OpsProblem } from './ops-problem.ts';
import { receiveJsonBody } from './receive-json-body.ts';
import type { AdminCall, AdminRoute, AdminStream } from './routes/admin-route.ts';
import { type AdminRoutesOptions, findAdminRoute } from './routes/admin-routes.ts';

export interface AdminHandlerOptions
  extends AdminRoutesOptions,
    OidcOptions,
    Pick<AuthorizeOptions, 'token'> {
  readonly callers: CallerMemory;
  readonly audit: Pick<AuditLog, 'add'>;
  readonly publish: PublishEvent;
  /** The id of this node, for the audit log. */
  readonly node: string;
  readonly onCall: (by: CallerKind | 'nobody', outcome: CallOutcome) => void;
}

/** Whether somebody was let in, not what became of the call. */
type CallOutcome = 'allowed' | 'unauthorized' | 'forbidden' | 'unavailable';

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
  const { node, audit, publish, onCall } = options;
  const authorize = createAuthorizeAdmin(options);
  const endWithCaller = createEndWithCaller(options.callers);

  /**
   * Reports a change that took place. From here on, a failure to report it must not fail the call.
   */
  const report = async (
    what: string,
    who: Operator,
    { account = null, key = null, before = null, after }: ChangeReport,
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
    const first = await authorize(headers, address).catch((error: unknown) => {
      onCall('nobody', isStoreOut(error) ? 'unavailable' : 'unauthorized');
      throw error;
    });
    trust(socket);
    const { route, names } = findAdminRoute(routes, method, path);
    const isAllowed = mayUse(first, route);
    onCall(first.kind, isAllowed ? 'allowed' : 'forbidden');
    // Before the body is read: its faults do not matter to somebody who may not send it.
    if (!isAllowed) throw refuseRole(route, first);
    const query = readQuery(url.slice(path.length));
    const body = method === 'GET' ? undefined : await receiveJsonBody(request, route.bodyBytesMax);
    // The body may have taken long, and the caller may have been revoked or signed out meanwhile.
    const caller = body === undefined ? first : await authorize(headers, address);
    if (!mayUse(caller, route)) throw refuseRole(route, caller);
    const who = nameOperator(request, caller);
    const call: AdminCall = { ...names, query, body, who, caller, signal };
    const what = nameChange(route, body);
    const answer = await route.handle(call).catch(async (error: unknown) => {
      if (what !== undefined && error instanceof DirectoryError && error.isInDoubt) {
        await report(what, who, unknownOf(route, call), 'unknown');
      }
      throw error;
    });
    if ('stream' in answer) {
      if (caller.kind === 'admin_token') return answer;
      const hasEnd = route.answer !== 'text/event-stream';
      return endWithCaller({ ...answer, hasEnd }, () => authorize(headers, address));
    }
    const { status, change } = answer;
    if (what !== undefined && change !== undefined) {
      await report(what, who, change, 'done');
    }
    return { status, body: answer.body, headers: HEADERS };
  };
}

function nameChange({ changes }: AdminRoute, body: unknown) {
  return typeof changes === 'function' ? changes(body) : changes;
}

function nameOperator(
  { headers, socket }: IncomingMessage,
  { token, operator }: AdminCaller,
): Operator {
  const via = headers['user-agent']?.startsWith('tollgate-cli/') ? 'cli' : 'api';
  return { via, token, address: socket.remoteAddress ?? '', operator };
}

function readQuery(text: string): Readonly<Record<string, string>> {
  const fields = [...new URLSearchParams(text)];
  const query = Object.fromEntries(fields);
  const twice = fields.find(([name], index) => fields.findIndex(([n]) => n === name) < index);
  if (twice === undefined) return query;
  throw new OpsProblem(400, 'invalid_request', `${twice[0]}: it is given twice`, {
    details: { fields: [{ field: twice[0], message: 'it is given twice' }] },
  });
}

interface ChangeReport {
  readonly account?: string | null;
  readonly key?: string | null;
  readonly before?: object | null;
  readonly after: object | null;
}

function mayUse({ role }: AdminCaller, route: AdminRoute): boolean {
  return rolesWithin(role).includes(route.role);
}

function refuseRole({ role }: AdminRoute, caller: AdminCaller): OpsProblem {
  const message = `this needs the role ${role}, and yours is ${caller.role}`;
  return new OpsProblem(403, 'role_too_low', message, { headers: { connection: 'close' } });
}

function isStoreOut(error: unknown): boolean {
  return error instanceof DirectoryError && error.code === 'store_unavailable';
}

/** Everything that is known about a change whose answer was lost. */
function unknownOf({ path, describeUnknown }: AdminRoute, call: AdminCall): ChangeReport {
  const { id } = call;
  const after = describeUnknown(call) ?? null;
  if (path.startsWith('/admin/v1/accounts/{id}')) return { account: id, after };
  if (path.startsWith('/admin/v1/keys/{id}')) return { key: id, after };
  return { after: after ?? (id === '' ? null : { id }) };
}
