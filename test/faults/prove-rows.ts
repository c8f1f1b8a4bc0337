import { beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../support/servers/start-postgres.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { FAULT_ROWS } from './rows.ts';
import { runRow } from './run-row.ts';

/** As much as two busy cores can serve beside other tests. */
const REQUESTS_PER_S = 40;
/** At what must hold at every moment: before the fault, and after it. */
const LOOKS_MIN = 2;
const ROW_MAX_MS = 480_000;

/** Proves some rows of the matrix, at a pace that a busy machine can keep. */
export function proveRows(...numbers: readonly number[]): void {
  const rows = FAULT_ROWS.filter(({ number }) => numbers.includes(number));
  expect(rows).toHaveLength(numbers.length);
  const cleanUp = useCleanUp();
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(cleanUp);
  });

  describe('two nodes under load', () => {
    it.each(rows.map((row) => [row.fault, row] as const))(
      'charge everything once and let nobody pass a limit: %s',
      async (_, row) => {
        const result = await runRow(row, { postgres, requestsPerS: REQUESTS_PER_S });
        const { lost, doubled, violations, isVerified, notes } = result;
        expect({ lost, doubled, violations, isVerified }, notes.join('\n')).toEqual({
          ...{ lost: 0, doubled: 0, violations: [], isVerified: true },
        });
        // Otherwise the row would prove nothing.
        expect(result.looks, notes.join('\n')).toBeGreaterThanOrEqual(LOOKS_MIN);
        expect(result.answeredAfter).toBeGreaterThan(0);
      },
      ROW_MAX_MS,
    );
  });
}
