/**
 * `run-faults [ROWS [REQUESTS_PER_S]]` breaks one part after the other while two nodes serve, and
 * checks that no money and no limit was wrong: see `rows.ts`. Rows are numbers with commas, as
 * `1,3,8`, or `all`. Prints a line for each, and ends with 1 if one of them was not exact, or could
 * not be run to its end.
 */
import { writeResult } from '../../bench/support/write-result.ts';
import { startPostgres } from '../support/servers/start-postgres.ts';
import { describeRow, isExact, TABLE_HEAD } from './describe-row.ts';
import { FAULT_ROWS } from './rows.ts';
import { type FaultRow, type RowResult, runRow } from './run-row.ts';

const [names = 'all', requestsPerS = 200] = process.argv.slice(2);

function chooseRows(): readonly FaultRow[] {
  if (names === 'all') return FAULT_ROWS;
  return names.split(',').map((name) => {
    const row = FAULT_ROWS.find(({ number }) => number === Number(name));
    if (row === undefined) throw new Error(`there is no row ${name}`);
    return row;
  });
}

async function runAll(rows: readonly FaultRow[]): Promise<RowResult[]> {
  const undos: (() => unknown)[] = [];
  const results: RowResult[] = [];
  try {
    const postgres = await startPostgres((undo) => void undos.push(undo));
    for (const row of rows) {
      try {
        const result = await runRow(row, { postgres, requestsPerS: Number(requestsPerS) });
        results.push(result);
        console.log(describeRow(result));
        for (const text of [...result.notes, ...result.violations]) console.log(`    ${text}`);
      } catch (error) {
        console.log(`row ${row.number} was not run to its end: ${error}`);
      }
    }
    return results;
  } finally {
    for (const undo of undos.reverse()) await undo();
  }
}

const rows = chooseRows();
console.log(TABLE_HEAD.join('\n'));
const results = await runAll(rows);
writeResult('faults', [...TABLE_HEAD, ...results.map(describeRow)].join('\n'), { results });
process.exitCode = results.length === rows.length && results.every(isExact) ? 0 : 1;
