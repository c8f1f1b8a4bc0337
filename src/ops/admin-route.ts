import type { Directory } from '../accounts/directory.ts';
import type { Log } from '../lib/log.ts';
import type { createAdminSchemas } from './admin-schemas.ts';
import type { ClusterState } from './cluster-state.ts';

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
  handle(call: AdminCall): Promise<AdminAnswer>;
}

export interface AdminRouteOptions {
  readonly directory: Directory;
  readonly readCluster: () => ClusterState;
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
