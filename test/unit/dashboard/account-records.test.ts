import { describe, expect, it } from 'vitest';
import {
  CSV_HEAD,
  encodeCsvLine,
  parseLedgerLine,
  sortEntries,
} from '../../../src/dashboard/pages/account/ledger-line.ts';
import { createPeriod } from '../../../src/dashboard/pages/account/period.ts';
import { fillDays, readUsageRows } from '../../../src/dashboard/pages/account/usage-rows.ts';
import { encodeLedgerCsv, LEDGER_CSV_HEAD } from '../../../src/ledger/encode-ledger-csv.ts';
import { FORMULAS } from '../../ledger/formulas.ts';

const ENTRY = {
  ...{ bucket: 3, id: '1790000000000-0', time: '2026-09-21T14:13:20.000Z', kind: 'charge' },
  ...{ request: 'req_1', account: 'acct_1', key: 'k', model: 'm', month: '202609' },
  ...{ held_micros: 9, charged_micros: 7, short_micros: 0, balance_micros: 1_000 },
  usage: {
    ...{ input: 1, cache_read: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5 },
    ...{ thinking: 0, estimated: true, searches: 2 },
  },
  note: null,
};

describe('the ledger of an account in the page', () => {
  it('is exported as CSV like by the command', () => {
    const quoted = { ...ENTRY, usage: null, note: 'paid "late",\nby transfer' };
    expect(CSV_HEAD).toBe(LEDGER_CSV_HEAD);
    const formulas = FORMULAS.map((text) => ({ ...ENTRY, request: text, note: text }));
    for (const entry of [ENTRY, quoted, ...formulas]) {
      const full = { ...entry, kind: 'charge' as const, details: null };
      expect(encodeCsvLine(entry)).toBe(encodeLedgerCsv(full));
    }
  });

  it('stands with the newest first, also within one millisecond', () => {
    const ids = ['1790000000000-2', '999-0', '1790000000000-10', '1790000000001-0'];
    const sorted = sortEntries(ids.map((id) => ({ ...ENTRY, id })));
    expect(sorted.map(({ id }) => id)).toEqual([
      ...['1790000000001-0', '1790000000000-10', '1790000000000-2', '999-0'],
    ]);
  });

  it('knows a line that says that others are missing', () => {
    expect(parseLedgerLine(JSON.stringify(ENTRY))).toEqual(ENTRY);
    expect(parseLedgerLine('{"incomplete":{"damaged_lines":0,"gaps":1}}')).toBeUndefined();
  });
});

describe('the usage of an account in the page', () => {
  it('has a row for each UTC day of the period, also where nothing was used', () => {
    const period = createPeriod(3, Date.parse('2027-03-01T00:00:00Z'));
    expect(period).toEqual({
      from: '2027-02-27',
      days: ['2027-02-27', '2027-02-28', '2027-03-01'],
    });
    const tokens = { input: 1, cache_read: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5 };
    const sums = { requests: 2, charged: 0.5, short: 0.1, tokens };
    const usage = { by: 'day' as const, data: [{ day: '2027-02-28', ...sums }], total: sums };
    const rows = readUsageRows({
      ...{ ...usage, account: 'a', key: null, from: null, to: null, paid: 0, is_complete: true },
    });
    const filled = fillDays(rows, period.days);
    expect(filled.map(({ requests }) => requests)).toEqual([0, 2, 0]);
    expect(filled[1]).toEqual({
      ...{ name: '2027-02-28', requests: 2, charged: 0.5, short: 0.1 },
      ...{ tokensIn: 10, tokensOut: 5 },
    });
  });
});
