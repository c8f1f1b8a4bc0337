import type { ListedRequest } from '../../api/books-types.ts';
import {
  formatCount,
  formatCreditAmount,
  formatDate,
  formatMs,
  formatName,
  formatTimeOfDay,
} from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { DataTable, type TableColumn } from '../../parts/tables/data-table.tsx';
import { type ListFilter, placeOfList } from './list-filter.ts';
import { keyOfRow } from './merge-requests.ts';

interface RequestTableProps {
  readonly caption: string;
  readonly rows: readonly ListedRequest[];
  readonly emptyText: string;
  /** Stays in the address when a request is opened. */
  readonly filter?: ListFilter;
  /** The id of the request whose receipt is open. */
  readonly chosen?: string;
  readonly freshKeys?: ReadonlySet<string>;
  /** If all rows belong to one account, its name says nothing. */
  readonly isOfOneAccount?: boolean;
}

/** Lists requests; each row opens its receipt. */
export function RequestTable(props: RequestTableProps) {
  const { caption, rows, emptyText, filter = {}, chosen, freshKeys, isOfOneAccount } = props;
  const time: TableColumn<ListedRequest> = {
    title: 'Time',
    cell: (row) => (
      <a
        class="opener"
        href={`#${placeOfList(filter, row.id)}`}
        data-request={row.id}
        aria-current={row.id === chosen ? 'true' : undefined}
      >
        <time dateTime={row.time} title={row.time}>
          {formatTimeOfDay(row.time)}
        </time>
        <small>{formatDate(row.time)}</small>
      </a>
    ),
  };
  return (
    <DataTable
      {...{ caption, rows, emptyText }}
      isTitled
      keyOf={keyOfRow}
      columns={[time, isOfOneAccount === true ? KEY : ACCOUNT, ...DETAILS]}
      classOfRow={(row) => {
        const isFresh = freshKeys?.has(keyOfRow(row)) === true;
        return `opens${row.id === chosen ? ' chosen' : ''}${isFresh ? ' fresh' : ''}`;
      }}
    />
  );
}

const KEY: TableColumn<ListedRequest> = {
  title: 'Key',
  cell: (row) => <KeyLink row={row} />,
};

const ACCOUNT: TableColumn<ListedRequest> = {
  title: 'Account',
  cell: (row) => (
    <>
      <AccountLink row={row} />
      <small>
        <KeyLink row={row} />
      </small>
    </>
  ),
};

const DETAILS: readonly TableColumn<ListedRequest>[] = [
  {
    title: 'Model',
    cell: ({ model, upstream }) => (
      <>
        {model || '–'}
        {upstream !== null && <small>{upstream}</small>}
      </>
    ),
  },
  { title: 'Status', cell: (row) => <RequestState row={row} /> },
  {
    title: 'Tokens',
    cell: ({ tokens }) =>
      tokens === null ? (
        '–'
      ) : (
        <>
          {formatCount(
            tokens.input + tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h,
          )}{' '}
          in
          <small>{formatCount(tokens.output)} out</small>
        </>
      ),
    isNumber: true,
  },
  { title: 'Credits', cell: ({ charged }) => formatCreditAmount(charged), isNumber: true },
  {
    title: 'Took',
    cell: ({ total_ms: totalMs, first_event_ms: firstMs }) =>
      totalMs === null ? (
        '–'
      ) : (
        <>
          {formatMs(totalMs)}
          {firstMs !== null && <small>first {formatMs(firstMs)}</small>}
        </>
      ),
    isNumber: true,
  },
];

/** Nobody knows whose a request was if it was refused before its key was known. */
function AccountLink({ row: { account, account_name: name } }: { readonly row: ListedRequest }) {
  if (account === '') return <>no account</>;
  return <a href={`#/accounts/${account}`}>{name || account}</a>;
}

function KeyLink({ row: { key, key_name: name } }: { readonly row: ListedRequest }) {
  if (key === '') return <>no key</>;
  return <a href={`#/keys/${key}`}>{name || key}</a>;
}

/** Kinds that are not the usual end of a request. */
const RARE_KINDS: readonly string[] = ['late', 'orphan', 'expired'];

function RequestState({ row }: { readonly row: ListedRequest }) {
  const { status, outcome, refusal, kind } = row;
  return (
    <>
      {status ?? '–'} {outcome !== null && outcome !== 'complete' && <Badge state={outcome} />}
      {RARE_KINDS.includes(kind) && <Badge state={kind} />}
      {refusal !== null && <small>{formatName(refusal)}</small>}
    </>
  );
}
