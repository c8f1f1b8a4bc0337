import type { Directory } from '../accounts/directory.ts';
import type { LedgerDesk } from '../ledger/create-ledger-desk.ts';
import type { Log } from '../lib/log.ts';
import type { createAdminSchemas } from './admin-schemas.ts';
import type { OpsLines } from './ops-answer.ts';

export interface AdminCall {
  /** What stands in the path for `{id}`; empty where nothing does. */
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface AdminAnswer {
  readonly status: 200 | 201;
  readonly body: object;
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** With at most one `{id}`. */
  readonly path: string;
  handle(call: AdminCall): Promise<AdminAnswer | OpsLines>;
}

export interface AdminRouteOptions {
  readonly directory: Directory;
  readonly ledger: LedgerDesk;
  readonly schemas: ReturnType<typeof createAdminSchemas>;
  readonly noteChange: NoteChange;
}

/** Tells what was changed, without secrets. */
export type NoteChange = (change: {
  readonly what: string;
  readonly subject: string;
  readonly before?: object;
  readonly after: object;
}) => void;

export function createNoteChange(log: Log): NoteChange {
  return (change) => log.info({ who: 'admin', ...change }, 'changed by an operator');
}
