import { useState } from 'preact/hooks';
import type { LimitEventFilter } from '../../api/api-types.ts';
import { Field } from '../../parts/field.tsx';

export const ALL_EVENTS: LimitEventFilter = { account: '', type: '' };

const KINDS: readonly (readonly [type: LimitEventFilter['type'], text: string])[] = [
  ['', 'all'],
  ['limit.warning', 'limits that are near'],
  ['limit.reached', 'limits that are reached'],
  ['balance.low', 'balances that are low'],
  ['balance.exhausted', 'balances that are used up'],
  ['events.left_out', 'events left out'],
];

interface EventFilterFormProps {
  readonly onFilter: (filter: LimitEventFilter) => void;
}

export function EventFilterForm({ onFilter }: EventFilterFormProps) {
  const [account, setAccount] = useState('');
  const [type, setType] = useState<LimitEventFilter['type']>('');
  const submit = (event: Event) => {
    event.preventDefault();
    onFilter({ account: account.trim(), type });
  };
  return (
    <form class="search" onSubmit={submit}>
      <Field label="Account id">
        {(attributes) => (
          <input
            {...attributes}
            type="search"
            spellcheck={false}
            value={account}
            onInput={(event) => setAccount(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label="What">
        {(attributes) => (
          <select
            {...attributes}
            value={type}
            onChange={(event) => setType(event.currentTarget.value as LimitEventFilter['type'])}
          >
            {KINDS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div class="buttons">
        <button type="submit" class="primary">
          Filter
        </button>
      </div>
    </form>
  );
}
