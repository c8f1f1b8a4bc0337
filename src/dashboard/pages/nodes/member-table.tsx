import type { ComponentChildren } from 'preact';
import type { Cluster, ListedNode } from '../../api/api-types.ts';
import { formatAge, formatCount, formatFigure } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { DataTable, type TableColumn } from '../../parts/tables/data-table.tsx';
import { findOdd } from './find-odd.ts';
import { nameNode } from './name-node.ts';

interface MemberTableProps {
  readonly cluster: Cluster;
  readonly detail: 'brief' | 'full';
}

const ABSENT = '–';
const STATES = ['up', 'draining', 'gone'];

export function MemberTable({ cluster, detail }: MemberTableProps) {
  const rows = cluster.nodes.toSorted(
    (one, other) =>
      STATES.indexOf(one.state) - STATES.indexOf(other.state) || (one.id < other.id ? -1 : 1),
  );
  return (
    <DataTable
      caption="All nodes on this Redis"
      rows={rows}
      keyOf={({ id }) => id}
      emptyText="No node has reported"
      isTitled={detail === 'brief'}
      columns={[
        nodeColumn(cluster.answered_by),
        { title: 'State', cell: (member) => <StateOf member={member} /> },
        ...(detail === 'full' ? versionColumns(cluster) : []),
        ...HEALTH,
        ...TRAFFIC,
        ...(detail === 'full' ? [DUTIES] : []),
      ]}
    />
  );
}

function nodeColumn(answeredBy: string): TableColumn<ListedNode> {
  return {
    title: 'Node',
    cell: ({ id, ops_url: url }) => (
      <>
        <a href={`#/nodes/${encodeURIComponent(id)}`} title={id}>
          {nameNode(id)}
        </a>
        {id === answeredBy && <small>answers here</small>}
        {url !== null && <small>{url.replace(/^https?:\/\//, '')}</small>}
      </>
    ),
  };
}

/** A node that was asked to end has announced that. Any other was lost. */
function StateOf({ member }: { readonly member: ListedNode }) {
  const { state, has_ended: hasEnded, heard_at: heardAt, started_at: startedAt } = member;
  const age = formatAge(state === 'gone' ? heardAt : startedAt, Date.now());
  return (
    <>
      <Badge state={state} />
      <small>
        {state === 'gone' ? `${hasEnded ? 'ended' : 'lost'}, heard ${age} ago` : `for ${age}`}
      </small>
    </>
  );
}

function versionColumns(cluster: Cluster): readonly TableColumn<ListedNode>[] {
  const [versions, catalogues] = [findOdd(cluster, 'version'), findOdd(cluster, 'catalogue')];
  const settings = findOdd(cluster, 'config');
  return [
    {
      title: 'Version',
      cell: ({ id, version, catalogue_version: catalogue }) => (
        <>
          {version} <Difference isShown={versions.has(id)} />
          {catalogue !== null && <small>catalogue {catalogue}</small>}
          <Difference isShown={catalogues.has(id)} />
        </>
      ),
    },
    {
      title: 'Settings',
      cell: ({ id, config }) => (
        <>
          <code>{config.version}</code> <Difference isShown={settings.has(id)} />
        </>
      ),
    },
  ];
}

function Difference({ isShown }: { readonly isShown: boolean }) {
  return isShown ? (
    <small>
      <Badge state="differs" />
    </small>
  ) : null;
}

/** A node that is gone does nothing now. */
const now = (read: (member: ListedNode) => ComponentChildren) => (member: ListedNode) =>
  member.state === 'gone' ? ABSENT : read(member);

const HEALTH: readonly TableColumn<ListedNode>[] = [
  {
    title: 'Workers',
    cell: now(({ workers }) => `${workers.up} of ${workers.wanted}`),
    isNumber: true,
  },
  { title: 'Upstreams', cell: now(({ upstreams }) => <UpstreamStates upstreams={upstreams} />) },
];

const TRAFFIC: readonly TableColumn<ListedNode>[] = [
  {
    title: 'Requests a second',
    cell: now(({ requests_per_s: rate, open }) => (
      <>
        {formatFigure(rate)}
        <small>{formatCount(open)} open</small>
      </>
    )),
    isNumber: true,
  },
];

const DUTIES: TableColumn<ListedNode> = {
  title: 'Duties',
  cell: now(({ is_ingesting: isIngesting, sweeps }) => (
    <>
      {isIngesting && <span>fills the books</span>}
      {sweeps > 0 && <small>sweeps {formatCount(sweeps)} buckets</small>}
      {!isIngesting && sweeps === 0 && 'none'}
    </>
  )),
};

/** Names only the upstreams that something is wrong with. */
function UpstreamStates({ upstreams }: Pick<ListedNode, 'upstreams'>) {
  const troubled = upstreams.filter(({ state }) => state !== 'closed');
  const sound = upstreams.length - troubled.length;
  return (
    <>
      {sound > 0 && (
        <>
          {sound} <Badge state="closed" />
        </>
      )}
      {troubled.map(({ name, state }) => (
        <small key={name}>
          {name} <Badge state={state} />
        </small>
      ))}
    </>
  );
}
