import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { LedgerEntry } from '../../../src/books/questions/entries/ledger-entry.ts';
import type { FaultNode } from './start-node.ts';

/** What the ledger has of one request. */
export interface InLedger {
  chargedMicros: number;
  /** What cap and balance did not allow to charge. */
  shortMicros: number;
  /** Of its entries, in their order. */
  readonly kinds: string[];
}

export interface LedgerRead {
  readonly requests: ReadonlyMap<string, InLedger>;
  /** Of each account, less what was paid in. */
  readonly chargedOfAccount: ReadonlyMap<string, number>;
}

export async function readLedger(node: FaultNode): Promise<LedgerRead> {
  const requests = new Map<string, InLedger>();
  const chargedOfAccount = new Map<string, number>();
  const child = startLedger(node, ['export']);
  const closed = once(child, 'close') as Promise<[number | null]>;
  for await (const line of createInterface(child.stdout)) {
    const entry = JSON.parse(line) as LedgerEntry;
    const { account, request, kind, key, charged_micros: charged } = entry;
    chargedOfAccount.set(account, (chargedOfAccount.get(account) ?? 0) + charged);
    if (key === null) continue;
    const known = requests.get(request) ?? { chargedMicros: 0, shortMicros: 0, kinds: [] };
    known.chargedMicros += charged;
    known.shortMicros += entry.short_micros;
    known.kinds.push(kind);
    requests.set(request, known);
  }
  const [code] = await closed;
  if (code !== 0) throw new Error(`tollgate ledger export ended with ${code}`);
  return { requests, chargedOfAccount };
}

export interface VerifyResult {
  readonly isClean: boolean;
  readonly report: string;
}

export async function verifyLedger(node: FaultNode): Promise<VerifyResult> {
  const child = startLedger(node, ['verify', '--full']);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const report = await text(child.stdout);
  const [code] = await closed;
  return { isClean: code === 0, report };
}

function startLedger(node: FaultNode, command: readonly string[]) {
  const [program, ...args] = node.command('ledger', ...command);
  return spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}
