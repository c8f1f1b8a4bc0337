import {
  type OperatorDirectory,
  type OperatorRecord,
  refuseMissingOperator,
} from '../../accounts/operators/operator-directory.ts';
import {
  SESSION_ID_PREFIX,
  type Session,
  type Sessions,
} from '../../accounts/operators/sessions.ts';
import { rolesWithin } from '../../lib/role.ts';
import { showTime } from '../../lib/time/show-time.ts';
import type { AdminCaller } from '../access/admin-caller.ts';
import type { CallerMemory } from '../access/caller-memory.ts';
import type { AdminSchemas } from '../schemas/admin-schemas.ts';
import {
  meAnswer,
  operatorCreatedAnswer,
  operatorRevokedAnswer,
  operatorsAnswer,
} from '../schemas/operator-schemas.ts';
import { type AdminAnswer, type AdminRoute, defineAdminRoute } from './admin-route.ts';

export interface OperatorRoutesOptions {
  readonly operators: OperatorDirectory;
  readonly sessions: Sessions;
  readonly callers: Pick<CallerMemory, 'forgetAll'>;
  readonly schemas: AdminSchemas;
}

/** Who may use the admin API. */
export function createOperatorRoutes(options: OperatorRoutesOptions): readonly AdminRoute[] {
  const { operators, sessions, schemas } = options;
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/operators',
      role: 'viewer',
      summary: 'List operators, the oldest first, and the sessions of the dashboard',
      answer: operatorsAnswer,
      async handle() {
        const [all, open] = await Promise.all([operators.listOperators(), sessions.list()]);
        return {
          status: 200,
          body: { data: all.map(showOperator), sessions: open.map(showSession) },
        };
      },
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/operators',
      role: 'operator',
      summary: 'Create an operator: its token is shown only once',
      changes: 'operator.create',
      body: schemas.createOperator,
      answer: operatorCreatedAnswer,
      async handle({ body }) {
        const { operator, token } = await operators.createOperator(body);
        const after = showOperator(operator);
        return { status: 201, body: { ...after, token }, change: { account: null, after } };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/operators/me',
      role: 'viewer',
      summary: 'Show who asks, and what they may do',
      answer: meAnswer,
      handle: async ({ caller }) => ({ status: 200, body: showCaller(caller) }),
    }),
    createRevokeRoute(options),
  ];
}

function createRevokeRoute({ operators, sessions, callers }: OperatorRoutesOptions): AdminRoute {
  const endSession = async (id: string): Promise<AdminAnswer> => {
    const session = await sessions.endById(id);
    if (session === undefined) throw refuseMissingOperator(id);
    const before = showSession(session);
    return { status: 200, body: before, change: { account: null, before, after: { id } } };
  };

  const revoke = async (id: string): Promise<AdminAnswer> => {
    const changed = await operators.revokeOperator(id);
    const [before, after] = [showOperator(changed.before), showOperator(changed.after)];
    return { status: 200, body: after, change: { account: null, before, after } };
  };

  return defineAdminRoute({
    method: 'POST',
    path: '/admin/v1/operators/{id}/revoke',
    role: 'operator',
    summary: 'End the token of an operator for good, or a session of the dashboard',
    changes: 'operator.revoke',
    answer: operatorRevokedAnswer,
    async handle({ id }) {
      // This node must not remember them until the message from Redis arrives.
      const done = await (id.startsWith(SESSION_ID_PREFIX) ? endSession(id) : revoke(id)).finally(
        callers.forgetAll,
      );
      return done;
    },
  });
}

function showOperator({ id, name, role, createdMs, usedMs, revokedMs }: OperatorRecord) {
  return {
    ...{ id, name, role },
    status: revokedMs === undefined ? 'active' : 'revoked',
    created_at: showTime(createdMs),
    used_at: usedMs === undefined ? null : showTime(usedMs),
    revoked_at: revokedMs === undefined ? null : showTime(revokedMs),
  };
}

export function showSession({ id, subject, name, role, createdMs, untilMs }: Session) {
  return {
    ...{ id, subject, name, role },
    created_at: showTime(createdMs),
    until: showTime(untilMs),
  };
}

function showCaller({ kind, role, operator, untilMs }: AdminCaller) {
  return {
    id: operator?.id ?? null,
    name: operator?.name ?? 'the admin token',
    ...{ role, may: rolesWithin(role), by: kind },
    until: untilMs === null ? null : showTime(untilMs),
  };
}
