import type { EventRow } from '../../api/api-types.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';

interface EventProps {
  readonly event: EventRow;
}

const SHOWN: Readonly<Record<EventRow['type'], readonly [text: string, tone: Tone]>> = {
  'limit.warning': ['limit is near', 'warning'],
  'limit.reached': ['limit is reached', 'bad'],
  'balance.low': ['balance is low', 'warning'],
  'balance.exhausted': ['balance is used up', 'bad'],
  'events.left_out': ['events left out', 'neutral'],
};

export function EventBadge({ event: { type } }: EventProps) {
  const [text, tone] = SHOWN[type];
  return <Badge state={text} tone={tone} />;
}

/** Whose limit it is, and whose request has crossed it. */
export function EventSubject({ event: { level, subject, account, key } }: EventProps) {
  return (
    <ul class="changes">
      {level !== 'account' && level !== 'key' && (
        <li>
          {level}{' '}
          {level === 'group' ? (
            <a href={`#/groups/${subject}`}>{subject}</a>
          ) : (
            <code>{subject}</code>
          )}
        </li>
      )}
      <li>
        account <a href={`#/accounts/${account}`}>{account}</a>
      </li>
      {key !== null && (
        <li>
          {level === 'key' ? 'key' : 'by key'} <a href={`#/keys/${key}`}>{key}</a>
        </li>
      )}
    </ul>
  );
}
