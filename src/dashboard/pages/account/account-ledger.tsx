import { useState } from 'preact/hooks';
import type { Account } from '../../api/api-types.ts';
import { formatCreditAmount, formatName } from '../../format.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAction } from '../../use-action.ts';
import { useLoad } from '../../use-load.ts';
import { type ExportFormat, exportLedger } from './export-ledger.ts';
import { fetchLedger } from './fetch-ledger.ts';
import { isPayment, type LedgerEntry } from './ledger-line.ts';
import type { Period } from './period.ts';
import { ReceiptDialog } from './receipt-dialog.tsx';
import { ShownRows } from './shown-rows.tsx';

const MICROS_PER_CREDIT = 1_000_000;

interface AccountLedgerProps {
  readonly account: Account;
  readonly period: Period;
  /** The ledger is read again for each turn. */
  readonly turn: number;
}

export function AccountLedger({ account: { id }, period: { from }, turn }: AccountLedgerProps) {
  const ledger = useLoad((signal) => fetchLedger({ account: id, from }, signal), {
    of: [id, from, turn],
  });
  const [opened, setOpened] = useState<LedgerEntry | undefined>();
  return (
    <>
      <h3>Ledger</h3>
      <LoadView load={ledger}>
        {({ entries, isComplete, isCut }) => (
          <>
            {isCut && <p>There is more than this page can hold: choose fewer days, or export.</p>}
            {!isComplete && <p>A part of the ledger is on another node: entries are missing.</p>}
            <ShownRows rows={entries}>
              {(rows) => <LedgerTable entries={rows} onOpen={setOpened} />}
            </ShownRows>
          </>
        )}
      </LoadView>
      <div class="bar-of-buttons">
        <ExportButton account={id} format="ndjson" />
        <ExportButton account={id} format="csv" />
      </div>
      {opened !== undefined && (
        <ReceiptDialog entry={opened} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}

interface LedgerTableProps {
  readonly entries: readonly LedgerEntry[];
  readonly onOpen: (entry: LedgerEntry) => void;
}

function LedgerTable({ entries, onOpen }: LedgerTableProps) {
  return (
    <DataTable
      caption="Ledger, the newest first"
      rows={entries}
      keyOf={({ id }) => id}
      emptyText="Nothing changed the balance in these days"
      columns={[
        { title: 'Time', cell: ({ time }) => <Moment iso={time} /> },
        { title: 'Kind', cell: ({ kind }) => formatName(kind) },
        { title: 'Model or note', cell: ({ model, note }) => model ?? note ?? '', isProse: true },
        {
          title: 'Credits',
          cell: (row) => formatCreditAmount(-row.charged_micros / MICROS_PER_CREDIT),
          isNumber: true,
        },
        {
          title: 'Balance',
          cell: (row) => formatCreditAmount(row.balance_micros / MICROS_PER_CREDIT),
          isNumber: true,
        },
        {
          title: 'Receipt',
          cell: (entry) => (
            <button
              type="button"
              class="small"
              aria-label={`Receipt of ${isPayment(entry) ? 'payment' : 'request'} ${entry.request}`}
              onClick={() => onOpen(entry)}
            >
              Receipt
            </button>
          ),
        },
      ]}
    />
  );
}

interface ExportButtonProps {
  readonly account: string;
  readonly format: ExportFormat;
}

function ExportButton({ account, format }: ExportButtonProps) {
  const { isRunning, problem, run } = useAction(() => exportLedger(account, format));
  return (
    <div>
      <button type="button" disabled={isRunning} onClick={run}>
        {isRunning ? 'Reading…' : `Export all as ${format === 'csv' ? 'CSV' : 'NDJSON'}`}
      </button>
      <Problem problem={problem} />
    </div>
  );
}
