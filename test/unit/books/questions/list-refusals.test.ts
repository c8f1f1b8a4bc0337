import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import type { BooksTables } from '../../../../src/books/engine/tables.ts';
import { listRefusals } from '../../../../src/books/questions/list-refusals.ts';
import type { QuestionContext } from '../../../../src/books/questions/question.ts';
import { createRowBudget, ROWS_HELD_MAX } from '../../../../src/books/questions/row-budget.ts';
import { useCleanUp } from '../../../support/use-clean-up.ts';

const cleanUp = useCleanUp();
const DAYS = 10;
const MINUTES = DAYS * 1_440;

/** How long a query takes: the way to the server and back, and its work by the minutes it sums. */
interface Server {
  readonly wayMs: number;
  readonly workMsOfMinute: number;
}

/** Asks for the refusals of ten days, and returns how many minutes each query has summed. */
async function askServer({ wayMs, workMsOfMinute }: Server): Promise<number[]> {
  let nowMs = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  cleanUp(() => now.mockRestore());
  const spans: number[] = [];
  const executeQuery = async ({ sql, parameters }: CompiledQuery) => {
    nowMs += wayMs;
    if (sql.includes('order by')) {
      return { rows: [{ minute: sql.includes('desc') ? MINUTES - 1 : 0 }] };
    }
    const [from, until] = parameters as [number, number];
    nowMs += (until - from) * workMsOfMinute;
    spans.push(until - from);
    return { rows: [{ name: 'rate_limited', account: 'a', count: until - from }] };
  };
  const connectionToBooks = { executeQuery, async *streamQuery() {} } as never;
  const driver = Object.assign(new DummyDriver(), {
    acquireConnection: async () => connectionToBooks,
  });
  const db = new Kysely<BooksTables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (of) => new SqliteIntrospector(of),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const connection = { send: async () => [null, null] };
  const share = createRowBudget(ROWS_HELD_MAX).open();
  const context = { books: { db }, connection, share } as unknown as QuestionContext;
  const report = await listRefusals(context, { by: 'refusal' }, new AbortController().signal);
  expect(report.total).toBe(MINUTES);
  return spans;
}

describe('a question about the refusals of ten days', () => {
  it.each([0, 20, 65, 300])('takes few queries to a server that is %s ms away', async (wayMs) => {
    expect((await askServer({ wayMs, workMsOfMinute: 0 })).length).toBeLessThanOrEqual(8);
  });

  it('takes longer queries as long as they are little work', async () => {
    const spans = await askServer({ wayMs: 20, workMsOfMinute: 0.1 });
    expect(Math.max(...spans)).toBe(480);
  });

  it('takes no query for less than an hour, however much work it is', async () => {
    const spans = await askServer({ wayMs: 20, workMsOfMinute: 5 });
    expect(new Set(spans)).toEqual(new Set([60]));
  });
});
