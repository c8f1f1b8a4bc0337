import type { AuditRecord } from '../../accounts/audit/audit-entry.ts';
import { showTime } from '../../lib/time/show-time.ts';
import type { BooksDesk } from '../books-desk.ts';
import { listChanges } from '../list-changes.ts';
import type { AdminSchemas } from '../schemas/admin-schemas.ts';
import { auditAnswer } from '../schemas/answer-schemas.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';

interface AuditRoutesOptions {
  readonly books: Pick<BooksDesk, 'listAudit'>;
  readonly schemas: AdminSchemas;
}

export function createAuditRoutes({ books, schemas }: AuditRoutesOptions): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/audit',
      role: 'viewer',
      summary: 'What operators changed, the newest first',
      query: schemas.auditQuery,
      answer: auditAnswer,
      async handle({ query, signal }) {
        const { records, next } = await books.listAudit(query, signal);
        return { status: 200, body: { data: records.map(showRecord), next } };
      },
    }),
  ];
}

function showRecord({ atMs, id, ...entry }: AuditRecord) {
  const changes = listChanges(entry.before, entry.after);
  return { id, at: showTime(atMs), ...entry, changes };
}
