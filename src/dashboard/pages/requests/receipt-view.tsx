import type { Receipt } from '../../api/api-types.ts';
import { formatCount, formatCreditAmount, formatName } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { RequestTimeline } from './request-timeline.tsx';

/** Shows what happened to one request, and what it cost. */
export function ReceiptView({ receipt }: { readonly receipt: Receipt }) {
  const { times, tries, ledger = [] } = receipt;
  return (
    <>
      <Facts facts={[...listSubjects(receipt), ...listAmounts(receipt), ...listDetails(receipt)]} />
      {receipt.state === 'ended' && receipt.asked === null && (
        <p>Its worker died. The request was charged what had been noted last.</p>
      )}
      {times && (
        <>
          <h3>Timeline</h3>
          <RequestTimeline times={times} />
        </>
      )}
      {tries && (
        <>
          <h3>Upstream tries</h3>
          <DataTable
            caption="Upstreams that were tried, in order"
            rows={tries.map((each, index) => ({ ...each, number: index + 1 }))}
            keyOf={({ number }) => String(number)}
            emptyText="No upstream was tried"
            columns={[
              { title: 'Try', cell: ({ number }) => number, isNumber: true },
              { title: 'Upstream', cell: ({ upstream }) => upstream },
              { title: 'Result', cell: ({ result }) => formatName(result) },
            ]}
          />
        </>
      )}
      <UsageTable receipt={receipt} />
      {ledger.length > 0 && (
        <>
          <h3>Ledger</h3>
          <DataTable
            caption="Entries of the ledger"
            rows={ledger}
            keyOf={({ id }) => id}
            emptyText="The ledger has no entry"
            columns={[
              { title: 'Time', cell: ({ time }) => <Moment iso={time} /> },
              { title: 'Kind', cell: ({ kind }) => formatName(kind) },
              { title: 'Held', cell: ({ held }) => formatCreditAmount(held), isNumber: true },
              {
                title: 'Charged',
                cell: ({ charged }) => formatCreditAmount(charged),
                isNumber: true,
              },
              {
                title: 'Balance',
                cell: ({ balance }) => formatCreditAmount(balance),
                isNumber: true,
              },
            ]}
          />
        </>
      )}
    </>
  );
}

function listSubjects(receipt: Receipt): Fact[] {
  const { state, account, key, masked_key: maskedKey, model } = receipt;
  const { account_name: accountName, key_name: keyName } = receipt;
  return [
    { name: 'State', value: <Badge state={state} /> },
    { name: 'Model', value: model },
    {
      name: 'Account',
      value: account && <a href={`#/accounts/${account}`}>{accountName || account}</a>,
    },
    { name: 'Key', value: key && <a href={`#/keys/${key}`}>{keyName || (maskedKey ?? key)}</a> },
  ];
}

function listAmounts({ held, seen, charged, short = 0, balance_after: balance }: Receipt): Fact[] {
  const amounts = [
    { name: 'Charged', credits: charged },
    { name: 'Held', credits: held },
    { name: 'Cost so far', credits: seen },
    { name: 'Not charged for want of room', credits: short > 0 ? short : undefined },
    { name: 'Balance afterwards', credits: balance },
  ];
  return amounts.flatMap(({ name, credits }) =>
    credits === undefined || credits === null
      ? []
      : [{ name, value: `${formatCreditAmount(credits)} credits` }],
  );
}

function listDetails(receipt: Receipt): Fact[] {
  const { answered, asked, usage } = receipt;
  const { config_version: version, catalogue_version: catalogue } = receipt;
  if (!answered || !asked) return [];
  const { status, outcome, refusal } = answered;
  return [
    { name: 'Status', value: status ?? 'none: the client left before' },
    { name: 'Outcome', value: formatName(outcome) },
    ...(refusal === null ? [] : [{ name: 'Reason', value: formatName(refusal) }]),
    { name: 'Format', value: `${asked.format}, ${asked.stream ? 'streamed' : 'whole'}` },
    { name: 'Body', value: `${formatCount(asked.body_bytes)} bytes` },
    ...(usage && usage.searches > 0
      ? [{ name: 'Searches', value: formatCount(usage.searches) }]
      : []),
    { name: 'Output at most', value: `${formatCount(asked.max_tokens)} tokens` },
    ...(version ? [{ name: 'Settings', value: <code>{version}</code> }] : []),
    ...(catalogue ? [{ name: 'Catalogue', value: <VersionLink version={catalogue} /> }] : []),
  ];
}

function VersionLink({ version }: { readonly version: number }) {
  return <a href={`#/catalogue/${version}`}>version {version}</a>;
}

const TOKEN_KINDS = [
  { name: 'Input', field: 'input' },
  { name: 'Cache read', field: 'cache_read' },
  { name: 'Cache write, 5 minutes', field: 'cache_write_5m' },
  { name: 'Cache write, 1 hour', field: 'cache_write_1h' },
  { name: 'Output', field: 'output' },
] as const;

function UsageTable({ receipt: { usage, price } }: { readonly receipt: Receipt }) {
  if (!usage) return null;
  return (
    <>
      <h3>Usage</h3>
      <DataTable
        caption={usage.estimated ? 'Tokens, estimated: nobody had counted them' : 'Tokens'}
        rows={TOKEN_KINDS.filter(({ field }) => usage[field] > 0)}
        keyOf={({ field }) => field}
        emptyText="Nothing was used"
        columns={[
          { title: 'Kind', cell: ({ name }) => name },
          { title: 'Tokens', cell: ({ field }) => formatCount(usage[field]), isNumber: true },
          {
            title: 'Credits per million',
            cell: ({ field }) => (price ? formatCreditAmount(price[field]) : '–'),
            isNumber: true,
          },
        ]}
      />
    </>
  );
}
