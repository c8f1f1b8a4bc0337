import { Facts } from '../../parts/facts.tsx';
import { Problem } from '../../parts/problem.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { ChargeText } from './charge-text.tsx';
import type { PlaygroundAnswer } from './follow-answer.ts';

const STATES: Readonly<Record<PlaygroundAnswer['state'], string>> = {
  sending: 'Waiting for the answer…',
  arriving: 'The answer arrives…',
  complete: 'The answer is complete.',
  cancelled: 'The request was cancelled.',
  failed: 'There is no whole answer.',
};

/** Headers of the connection to the node that passed the answer on, and the node's mark. */
const NOT_OF_THE_ANSWER: readonly string[] = [
  ...['connection', 'keep-alive', 'transfer-encoding', 'x-tollgate-answered-by'],
];

export function AnswerView({ answer }: { readonly answer: PlaygroundAnswer }) {
  const { state, status, headers, raw, text, problem } = answer;
  const requestId = headers.find(([name]) => name === 'request-id')?.[1];
  const charged = headers.find(([name]) => name === 'x-tollgate-credits-charged')?.[1];
  const isOver = state !== 'sending' && state !== 'arriving';
  return (
    <>
      <h2>Answer</h2>
      <p role="status">{STATES[state]}</p>
      <Problem problem={problem} />
      {status > 0 && (
        <>
          <Facts
            facts={[
              { name: 'Status', value: status },
              {
                name: 'Request',
                isWide: true,
                value: requestId && <a href={`#/requests/${requestId}`}>{requestId}</a>,
              },
              {
                name: 'Charge',
                value:
                  charged !== undefined ? (
                    `${charged} credits`
                  ) : isOver && requestId !== undefined ? (
                    <ChargeText requestId={requestId} />
                  ) : (
                    'not known before its end'
                  ),
              },
            ]}
          />
          <Scroll title="Text" text={text} />
          <Scroll title="As it came" text={raw} />
          <h3>Headers</h3>
          <DataTable
            caption="Headers of the answer"
            rows={headers.filter(([name]) => !NOT_OF_THE_ANSWER.includes(name))}
            keyOf={([name]) => name}
            emptyText="It has none"
            columns={[
              { title: 'Name', cell: ([name]) => <code>{name}</code> },
              { title: 'Value', cell: ([, value]) => <code>{value}</code>, isProse: true },
            ]}
          />
        </>
      )}
    </>
  );
}

/** Long text scrolls inside its frame, also with the keyboard. */
function Scroll({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to take the focus */}
      <section class="answer" tabIndex={0} aria-label={title}>
        {text}
      </section>
    </>
  );
}
