import { useState } from 'preact/hooks';
import type { ShownWebhook, WebhookTest } from '../../api/api-types.ts';
import { formatCount } from '../../format.ts';
import { useAction } from '../../loading/use-action.ts';
import { Badge } from '../../parts/badge.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';

interface WebhookTableProps {
  readonly rows: readonly ShownWebhook[];
  /** Undefined if who is signed in may not send a test. */
  readonly onTest: ((name: string) => Promise<WebhookTest>) | undefined;
}

export function WebhookTable({ rows, onTest }: WebhookTableProps) {
  if (rows.length === 0) {
    return (
      <p class="quiet">
        No webhook receives these: <code>webhooks</code> in the settings has none.
      </p>
    );
  }
  return (
    <DataTable
      caption="Webhooks"
      rows={rows}
      keyOf={({ name }) => name}
      emptyText=""
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'State', cell: (row) => <WebhookState row={row} />, isProse: true },
        { title: 'Events that wait', cell: (row) => formatCount(row.waiting), isNumber: true },
        { title: 'Dropped', cell: (row) => formatCount(row.dropped), isNumber: true },
        {
          title: 'Last delivered',
          cell: ({ delivered_at: at }) => (at === null ? 'never' : <Moment iso={at} />),
        },
        { title: 'URL', cell: ({ url }) => <code>{url}</code>, isProse: true },
        ...(onTest === undefined
          ? []
          : [
              {
                title: 'Test',
                cell: ({ name }: ShownWebhook) => <TestButton name={name} onTest={onTest} />,
                isProse: true,
              },
            ]),
      ]}
    />
  );
}

function WebhookState({ row: { failing_since: since, reason } }: { readonly row: ShownWebhook }) {
  if (since === null) return <Badge state="well" tone="good" />;
  return (
    <>
      <Badge state="fails" tone="bad" /> since <Moment iso={since} />: {reason}
    </>
  );
}

interface TestButtonProps {
  readonly name: string;
  readonly onTest: (name: string) => Promise<WebhookTest>;
}

function TestButton({ name, onTest }: TestButtonProps) {
  const [said, setSaid] = useState('');
  const test = useAction(async () => {
    setSaid('');
    const { delivered, status, reason } = await onTest(name);
    setSaid(delivered ? `It was taken, with status ${status}.` : `It was not taken: ${reason}.`);
  });
  return (
    <>
      <button type="button" disabled={test.isRunning} onClick={test.run}>
        Send a test
      </button>{' '}
      <span role="status">{said}</span>
      <Problem problem={test.problem} />
    </>
  );
}
