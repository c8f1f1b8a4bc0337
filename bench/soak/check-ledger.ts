import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { LedgerEntry } from '../../src/books/questions/entries/ledger-entry.ts';
import type { Books } from './read-books.ts';
import type { SoakNode } from './start-soak-nodes.ts';

const PROGRAM = 'dist/src/main.js';
/** How a hold ends: a request has one entry of these kinds. A charge may still follow `expired`. */
const HOLD_ENDS = ['charge', 'release', 'expired'];

interface LedgerSums {
  readonly chargedOfAccount: Map<string, number>;
  /** Grouped by key and month. */
  readonly spent: Map<string, { keyId: string; month: string; micros: number }>;
  /** How often the hold of each request has ended. */
  readonly holdEnds: Map<string, number>;
  entries: number;
}

export interface LedgerFacts {
  readonly entries: number;
  readonly broken: readonly string[];
}

interface LedgerCheck {
  readonly nodes: readonly SoakNode[];
  readonly books: Books;
  readonly answeredIds: ReadonlySet<string>;
}

/** Every ledger problem found after the run has come to rest. */
export async function checkLedger({
  nodes,
  books,
  answeredIds,
}: LedgerCheck): Promise<LedgerFacts> {
  const broken: string[] = [];
  const verified = await runLedger(nodes, 'verify', () => {});
  if (verified !== 0) broken.push('tollgate ledger verify does not find the ledger clean');
  const sums: LedgerSums = {
    chargedOfAccount: new Map(),
    spent: new Map(),
    holdEnds: new Map(),
    entries: 0,
  };
  const exported = await runLedger(nodes, 'export', (line) =>
    addEntry(sums, JSON.parse(line) as LedgerEntry),
  );
  if (exported !== 0) broken.push('tollgate ledger export says that the ledger is not complete');
  broken.push(...compareBooks(sums, books));
  for (const [request, ends] of sums.holdEnds) {
    if (ends > 1) broken.push(`the hold of ${request} has ended ${ends} times`);
  }
  const missing = [...answeredIds].filter((id) => !sums.holdEnds.has(id));
  if (missing.length > 0) {
    broken.push(
      `${missing.length} answered requests are not in the ledger: ${missing.slice(0, 3)}`,
    );
  }
  return { entries: sums.entries, broken };
}

function addEntry(sums: LedgerSums, entry: LedgerEntry): void {
  const { account, key, month, kind, request, charged_micros: charged } = entry;
  sums.entries += 1;
  sums.chargedOfAccount.set(account, (sums.chargedOfAccount.get(account) ?? 0) + charged);
  if (HOLD_ENDS.includes(kind)) sums.holdEnds.set(request, (sums.holdEnds.get(request) ?? 0) + 1);
  if (key === null || month === null) return;
  const spent = sums.spent.get(`${key} ${month}`) ?? { keyId: key, month, micros: 0 };
  spent.micros += charged;
  sums.spent.set(`${key} ${month}`, spent);
}

function compareBooks({ chargedOfAccount, spent }: LedgerSums, books: Books): string[] {
  const broken: string[] = [];
  for (const { id, balance } of books.accounts) {
    const expected = -(chargedOfAccount.get(id) ?? 0);
    if (balance !== expected) broken.push(`account ${id}: ${balance}, by the ledger ${expected}`);
  }
  for (const { id, spent: found, cap = Number.POSITIVE_INFINITY } of books.keys) {
    const expected = spent.get(`${id} ${books.month}`)?.micros ?? 0;
    if (found !== expected) broken.push(`key ${id}: spent ${found}, by the ledger ${expected}`);
    for (const { month, micros } of [...spent.values()].filter(({ keyId }) => keyId === id)) {
      if (micros > cap) broken.push(`key ${id}: ${micros} in ${month}, above its cap of ${cap}`);
    }
  }
  return broken;
}

/** Returns the exit code. */
async function runLedger(
  nodes: readonly SoakNode[],
  command: 'verify' | 'export',
  onLine: (line: string) => void,
): Promise<number | null> {
  const args = [PROGRAM, 'ledger', command, '--config', nodes[0]?.configPath ?? ''];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  for await (const line of createInterface(child.stdout)) onLine(line);
  return (await closed)[0];
}
