import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { createAuditLog } from '../../../accounts/audit/audit-log.ts';
import type { Books } from '../../../books/engine/books.ts';
import {
  keepAcceptances,
  type LedgerFinding,
  listFindings,
} from '../../../books/verify/accepted-findings.ts';
import type { Acceptance, LedgerReport } from '../../../books/verify/ledger-report.ts';
import { keepVerifiedFact } from '../../../books/verify/verified-fact.ts';
import { bucketOfAccount } from '../../../keys/account-id.ts';
import { formatCredits } from '../../../lib/units/micros.ts';
import { createLog } from '../../../log/create-log.ts';
import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { systemClock } from '../../../timers/system-clock.ts';

/** An entry of the audit log names at most this many; the books have all of them. */
const FINDINGS_ENTERED_MAX = 50;

export interface AcceptOrder {
  /** Accounts, `missing` and `damaged`. */
  readonly names: readonly string[];
  readonly reason: string;
}

interface AcceptOptions extends AcceptOrder {
  readonly books: Books;
  readonly connection: RedisConnection;
  readonly report: LedgerReport;
}

/**
 * Accepts what was just found under these names. Throws if there is nothing under one of them.
 */
export async function acceptFindings(options: AcceptOptions): Promise<LedgerReport> {
  const { books, names, reason, report } = options;
  const isAccepted = new Set(report.accepted.map(({ finding }) => finding));
  const all = await listFindings(books, report);
  const open = all.filter(({ finding }) => !isAccepted.has(finding));
  for (const name of names) {
    if (open.some((one) => one.of === name)) continue;
    throw new Error(`nothing was accepted: there is nothing to accept of ${name}`);
  }
  const chosen = open.filter((one) => names.includes(one.of));
  const accepted_at = new Date(systemClock.nowMs()).toISOString();
  const by = `${findUser()}@${hostname()}`;
  const acceptances = chosen.map(({ finding, excess_micros }) => {
    return { finding, excess_micros, reason, by, accepted_at };
  });
  await keepAcceptances(books, acceptances);
  await enterAcceptances(options, chosen, by);
  const left = { ...report, accepted: [...report.accepted, ...acceptances] };
  return { ...left, is_clean: (await keepVerifiedFact(books, systemClock, left)) === 0 };
}

/** One entry for each name. */
async function enterAcceptances(
  { connection, names, reason }: AcceptOptions,
  chosen: readonly LedgerFinding[],
  by: string,
): Promise<void> {
  const log = createLog('error', 'ledger');
  const audit = createAuditLog({ connection, randomBytes, clock: systemClock, log });
  for (const name of new Set(names)) {
    const ofName = chosen.filter((one) => one.of === name);
    const findings = ofName.slice(0, FINDINGS_ENTERED_MAX).map(describeFinding);
    const unnamed = ofName.length - findings.length;
    const account = bucketOfAccount(name) === undefined ? null : name;
    await audit.add({
      ...{ what: 'ledger.accept', node: hostname(), account, key: null, outcome: 'done' },
      who: { via: 'cli', token: null, address: null, operator: null },
      before: null,
      after: { by, reason, findings, ...(unnamed > 0 && { unnamed }) },
    });
  }
  await audit.close();
}

/** A container may run as a number that has no name. */
function findUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

export function printAcceptance(acceptance: Acceptance): string {
  const { by, accepted_at: at, reason } = acceptance;
  return `accepted ${describeFinding(acceptance)}, by ${by} at ${at}: ${reason}`;
}

function describeFinding({
  finding,
  excess_micros: micros,
}: Pick<Acceptance, 'finding' | 'excess_micros'>): string {
  return micros === null ? finding : `${finding}, off by ${formatCredits(micros)}`;
}
