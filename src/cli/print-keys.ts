import type { WrittenLimit } from '../config/schema/limit-schemas.ts';
import type { Printout } from './admin-command.ts';
import { formatWrittenList } from './limit-option.ts';
import { ABSENT, printTable } from './print-table.ts';

export interface KeyData {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly last4: string;
  readonly status: string;
  readonly rpm: number | null;
  readonly models: readonly string[] | null;
  readonly monthly_cap: number | null;
  readonly concurrency: number | null;
  readonly expires_at: string | null;
  readonly group: string | null;
  readonly limits: readonly WrittenLimit[];
  readonly user_limits: readonly WrittenLimit[];
  readonly require_user: boolean;
  readonly spent_this_month: number;
  readonly held: number;
  readonly created_at: string;
  readonly rotated_at: string | null;
  /** Absent if the node runs an earlier version. */
  readonly version?: number;
  /** The text of the key, present only when it is shown for the only time. */
  readonly key?: string;
  readonly replicated?: number;
}

export function printKey(key: KeyData): Printout {
  const rows = [
    ['id', key.id],
    ['account', key.account],
    ['name', key.name || ABSENT],
    ['last4', key.last4],
    ['status', key.status],
    ['rpm', show(key.rpm)],
    ['models', key.models?.join(',') ?? 'all'],
    ['monthly cap', show(key.monthly_cap)],
    ['spent', `${key.spent_this_month} this month`],
    ['held', String(key.held)],
    ['concurrency', show(key.concurrency)],
    ['group', key.group ?? ABSENT],
    ['limits', formatWrittenList(key.limits)],
    ['user limits', formatWrittenList(key.user_limits)],
    ['require user', key.require_user ? 'yes' : 'no'],
    ['expires', key.expires_at ?? ABSENT],
    ['created', key.created_at],
    ['rotated', key.rotated_at ?? ABSENT],
    ['version', String(key.version ?? ABSENT)],
  ];
  if (key.key === undefined) return { data: key, text: printTable(rows) };
  const text = printTable([...rows, ['key', key.key]]);
  return { data: key, text: `${text}\nThe key is shown only this once.` };
}

export function printKeys(keys: readonly KeyData[]): string {
  return printTable([
    ['ID', 'ACCOUNT', 'NAME', 'LAST4', 'STATUS', 'RPM', 'MODELS', 'CAP', 'SPENT', 'EXPIRES'],
    ...keys.map((key) => [
      ...[key.id, key.account, key.name || ABSENT, key.last4, key.status, show(key.rpm)],
      ...[key.models?.join(',') ?? 'all', show(key.monthly_cap)],
      ...[String(key.spent_this_month), key.expires_at ?? ABSENT],
    ]),
  ]);
}

function show(value: number | null): string {
  return value === null ? ABSENT : String(value);
}
