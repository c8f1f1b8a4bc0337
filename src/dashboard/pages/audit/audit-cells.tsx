import type { AuditPage } from '../../api-types.ts';
import { formatName } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Change, listChanges } from './list-changes.ts';

type AuditEntry = AuditPage['data'][number];
interface EntryProps {
  readonly entry: AuditEntry;
}

/** More are folded away, such as all fields of a new key. */
const CHANGES_SHOWN_MAX = 4;

export function AuditSubject({ entry: { account, key } }: EntryProps) {
  if (account === null && key === null) return <>this node</>;
  return (
    <ul class="changes">
      {account !== null && (
        <li>
          <a href={`#/accounts/${account}`}>{account}</a>
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

export function ChangeList({ entry: { before, after, outcome } }: EntryProps) {
  const changes = listChanges(before, after);
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
          <Badge state="unknown" /> Redis went out before it told whether this took place.
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
      <b>{formatName(field)}</b>: {before !== undefined && <del>{before}</del>}
      {before !== undefined && ' → '}
      {after === undefined ? 'none' : <ins>{after}</ins>}
    </li>
  );
}

export function Operator({ entry: { who, node } }: EntryProps) {
  return (
    <ul class="changes">
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
