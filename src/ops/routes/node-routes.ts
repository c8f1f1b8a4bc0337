import type { AuditRecord, Operator } from '../../accounts/audit/audit-entry.ts';
import type { BooksDesk } from '../books-desk.ts';
import type { EventHub } from '../event-hub.ts';
import { listChanges } from '../list-changes.ts';
import { OpsProblem } from '../ops-problem.ts';
import type { ReloadResult } from '../reload-result.ts';
import type { AdminSchemas } from '../schemas/admin-schemas.ts';
import { showTime } from '../schemas/admin-views.ts';
import { auditAnswer, reloadAnswer } from '../schemas/answer-schemas.ts';
import { eventAnswer } from '../schemas/event-schemas.ts';
import { type AdminAnswer, type AdminRoute, defineAdminRoute } from './admin-route.ts';

const RETRY_AFTER_S = 5;

export interface NodeRoutesOptions {
  readonly books: Pick<BooksDesk, 'listAudit'>;
  readonly events: EventHub;
  readonly reload: (who: Operator) => Promise<ReloadResult>;
  readonly schemas: AdminSchemas;
}

/** The routes about the whole node: its settings, the audit log and the events. */
export function createNodeRoutes(options: NodeRoutesOptions): readonly AdminRoute[] {
  const { books, events, reload, schemas } = options;
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/audit',
      summary: 'What operators changed, the newest first',
      query: schemas.auditQuery,
      answer: auditAnswer,
      async handle({ query: { from: fromMs, to: toMs, ...rest }, signal }) {
        const { records, next } = await books.listAudit({ fromMs, toMs, ...rest }, signal);
        return { status: 200, body: { data: records.map(showRecord), next } };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/events',
      summary: 'What goes on, as server-sent events',
      answer: 'text/event-stream',
      part: eventAnswer,
      async handle() {
        return { stream: events.subscribe };
      },
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/reload',
      summary: 'Read the settings anew, like SIGHUP',
      answer: reloadAnswer,
      handle: async ({ who }) => answerReload(await reload(who)),
    }),
  ];
}

function answerReload(result: ReloadResult): AdminAnswer {
  switch (result.kind) {
    case 'reloaded':
    case 'running': {
      const { kind, configVersion } = result;
      const body = { status: kind, config_version: configVersion, needs_restart: [] };
      return { status: kind === 'reloaded' ? 200 : 202, body };
    }
    case 'refused':
      throw new OpsProblem(400, 'invalid_config', 'nothing was changed: see problems', {
        details: { problems: result.problems, needs_restart: result.needsRestart },
      });
    case 'failed':
      throw new OpsProblem(500, 'reload_failed', 'the old settings hold: see problems', {
        details: { problems: result.problems },
      });
    case 'busy':
      throw new OpsProblem(503, 'not_now', 'the node starts, or too many reloads wait', {
        headers: { 'retry-after': String(RETRY_AFTER_S) },
      });
  }
}

function showRecord({ atMs, id, ...entry }: AuditRecord) {
  const changes = listChanges(entry.before, entry.after);
  return { id, at: showTime(atMs), ...entry, changes };
}
