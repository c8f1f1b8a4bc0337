import type { QuestionContext } from '../question.ts';
import { sumUsage } from './sum-usage.ts';
import type { UsageQuery } from './usage-query.ts';

const PIECE_CHARS = 65_536;

/**
 * The report of `sumUsage` as JSON, in pieces: one with many rows is many megabytes, and whoever
 * passes it on must not stand still for as long as it takes to copy and encode them.
 */
export async function* printUsage(
  context: QuestionContext,
  query: UsageQuery,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { data, ...report } = await sumUsage(context, query, signal);
  let text = `${JSON.stringify(report).slice(0, -1)},"data":[`;
  for (const [index, row] of data.entries()) {
    text += `${index === 0 ? '' : ','}${JSON.stringify(row)}`;
    if (text.length < PIECE_CHARS) continue;
    yield text;
    text = '';
  }
  yield `${text}]}\n`;
}
