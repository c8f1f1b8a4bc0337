import '../../styles/gauge.css';
import type { ComponentChildren } from 'preact';
import type { UsageRow } from '../../api/books-types.ts';
import { formatCount, formatCreditAmount, formatShare } from '../../format.ts';
import { DataTable, type TableColumn } from '../../parts/tables/data-table.tsx';
import type { UsageSubject } from './usage-subjects.ts';

/** The cost is no business of the account, so a statement does not show it. */
type UsageDetail = 'brief' | 'statement' | 'full';

interface UsageTableProps {
  readonly caption: string;
  readonly subject: UsageSubject;
  readonly rows: readonly UsageRow[];
  readonly emptyText: string;
  /** The sum of all rows, including the rows that are not shown; without it no share is shown. */
  readonly total?: number;
  readonly detail: UsageDetail;
}

export function UsageTable(props: UsageTableProps) {
  const { caption, rows, emptyText, total, detail } = props;
  const { what, nameOf, hrefOf } = props.subject;
  const link = (row: UsageRow): ComponentChildren =>
    hrefOf === undefined ? nameOf(row) : <a href={hrefOf(row)}>{nameOf(row)}</a>;
  return (
    <DataTable
      {...{ caption, rows, emptyText }}
      isTitled
      keyOf={(row) => [row.day, row.account, row.key, row.model].join(' ')}
      columns={[
        { title: what, cell: link },
        ...(total === undefined ? [] : [shareColumn(total, nameOf)]),
        ...columnsOf(detail, rows),
      ]}
    />
  );
}

function shareColumn(total: number, nameOf: UsageSubject['nameOf']): TableColumn<UsageRow> {
  return {
    title: 'Share',
    cell: (row) => {
      const share = total > 0 ? row.charged / total : 0;
      return (
        <span class="share">
          <meter
            aria-label={`Credits of ${nameOf(row)}, as a share of all`}
            max={1}
            value={share}
          />
          {formatShare(share)}
        </span>
      );
    },
  };
}

function columnsOf(
  detail: UsageDetail,
  rows: readonly UsageRow[],
): readonly TableColumn<UsageRow>[] {
  if (detail === 'brief') return CHARGES;
  if (detail === 'statement') return [...CHARGES, ...TOKENS];
  const hasCost = rows.some(({ cost }) => cost !== null);
  return [...CHARGES, FAILED, ...TOKENS, ...(hasCost ? COSTS : [])];
}

const CHARGES: readonly TableColumn<UsageRow>[] = [
  { title: 'Credits', cell: (row) => formatCreditAmount(row.charged), isNumber: true },
  { title: 'Requests', cell: (row) => formatCount(row.requests), isNumber: true },
];

const FAILED: TableColumn<UsageRow> = {
  title: 'Failed',
  cell: (row) => formatCount(row.failed),
  isNumber: true,
};

const TOKENS: readonly TableColumn<UsageRow>[] = [
  {
    title: 'Tokens in',
    cell: ({ tokens }) =>
      formatCount(tokens.input + tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h),
    isNumber: true,
  },
  { title: 'Tokens out', cell: ({ tokens }) => formatCount(tokens.output), isNumber: true },
];

const formatIfKnown = (credits: number | null) =>
  credits === null ? '–' : formatCreditAmount(credits);

const COSTS: readonly TableColumn<UsageRow>[] = [
  { title: 'Cost', cell: ({ cost }) => formatIfKnown(cost), isNumber: true },
  { title: 'Margin', cell: ({ margin }) => formatIfKnown(margin), isNumber: true },
];
