import type { RowResult } from './run-row.ts';

/** Whether money and limits were exact. */
export function isExact({ lost, doubled, violations, isVerified }: RowResult): boolean {
  return lost === 0 && doubled === 0 && violations.length === 0 && isVerified;
}

export const TABLE_HEAD = [
  '| # | fault | Redis | requests, answered | other ends | outage ms: all, one account | longest wait ms | charges lost, doubled | invariants violated | `ledger verify` |',
  '|--:|---|---|--:|---|--:|--:|--:|--:|---|',
];

export function describeRow(result: RowResult): string {
  const { row, fault, layout, requests, answered, others, violations } = result;
  const ends = Object.entries(others).sort(([, one], [, other]) => other - one);
  const cells = [
    ...[row, fault, layout, `${requests}, ${answered}`],
    ends.map(([end, count]) => `${count} ${end}`).join(', ') || 'none',
    `${result.outageMs}, ${result.accountOutageMs}`,
    ...[result.waitMaxMs, `${result.lost}, ${result.doubled}`, violations.length],
    result.isVerified ? 'clean' : 'differs',
  ];
  return `| ${cells.join(' | ')} |`;
}
