import type { QuestionContext } from '../question.ts';
import { encodeStatement } from './encode-statement.ts';
import { readStatement, type StatementQuery } from './statement.ts';
import type { StatementFormat } from './statement-formats.ts';
import { writeStatementPage } from './write-statement-page.ts';

export interface PrintedStatementQuery extends StatementQuery {
  readonly format: StatementFormat;
}

/** A statement as CSV, or as a page to be printed. */
export async function* printStatement(
  context: QuestionContext,
  { format, ...query }: PrintedStatementQuery,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const statement = await readStatement(context, query, signal);
  for (const part of format === 'csv'
    ? encodeStatement(statement)
    : writeStatementPage(statement, new Date(context.clock.nowMs()))) {
    signal.throwIfAborted();
    yield part;
  }
}
