import type { AuditList } from '../../api/api-types.ts';
import { formatName } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';

type AuditEntry = AuditList['data'][number];
type Change = AuditEntry['changes'][number];
interface EntryProps {
  readonly entry: AuditEntry;
}

/** Longer lists are folded, such as all fields of a new key. */
const CHANGES_SHOWN_MAX = 4;

export function AuditSubject({ entry }: EntryProps) {
  const { what, account, key, after, node } = entry;
  if (what.startsWith('operator.')) return <>operators</>;
  const isOfGroup = what.startsWith('group.') && after !== null;
  if (account === null && key === null && !isOfGroup) return <>{subjectOf(what, node, after)}</>;
  return (
    <ul class="changes">
      {account !== null && (
        <li>
          <a href={`#/accounts/${account}`}>{account}</a>
        </li>
      )}
      {isOfGroup && (
        <li>
          <a href={`#/groups/${after['id']}`}>{String(after['name'] ?? after['id'])}</a>
        </li>
      )}
      {key !== null && (
        <li>
          <a href={`#/keys/${key}`}>{key}</a>
        </li>
      )}
    </ul>
  );
}

/** What an entry without account, group and key is about. */
function subjectOf(what: string, node: string, after: AuditEntry['after']): string {
  if (what.startsWith('catalogue.')) return 'the catalogue';
  if (what.startsWith('ledger.')) return 'the books';
  if (what.startsWith('webhook.')) return `webhook ${after?.['name'] ?? ''}`;
  return `node ${node}`;
}

export function ChangeList({ entry: { changes, outcome } }: EntryProps) {
  const list = (
    <ul class="changes">
      {changes.map((change) => (
        <ChangeItem key={change.field} change={change} />
      ))}
    </ul>
  );
  return (
    <>
      {outcome === 'unknown' && (
        <p>
          <Badge state="unknown" /> Redis failed before it confirmed this change: it may or may not
          have been made.
        </p>
      )}
      {changes.length > CHANGES_SHOWN_MAX ? (
        <details>
          <summary>{changes.length} fields</summary>
          {list}
        </details>
      ) : (
        list
      )}
    </>
  );
}

function ChangeItem({ change: { field, before, after } }: { readonly change: Change }) {
  return (
    <li>
      <b>{formatName(field)}</b>: {before !== null && <del>{formatValue(before)}</del>}
      {before !== null && ' → '}
      {after === null ? 'none' : <ins>{formatValue(after)}</ins>}
    </li>
  );
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function OperatorText({ entry: { who, node } }: EntryProps) {
  return (
    <ul class="changes">
      {who.operator !== null && (
        <li>
          <b>{who.operator.name}</b>
        </li>
      )}
      <li>
        {who.via}
        {who.address !== null && ` from ${who.address}`}
      </li>
      {who.token !== null && (
        <li>
          token <code>{who.token}</code>
        </li>
      )}
      <li>
        node <code>{node}</code>
      </li>
    </ul>
  );
}
