import { useState } from 'preact/hooks';
import { Field } from '../../parts/field.tsx';
import { toLocalTime } from '../../to-local-time.ts';
import type { ListFilter } from './list-filter.ts';

const LENGTHS = [
  { last: '1h', title: 'the last hour' },
  { last: '24h', title: 'the last 24 hours' },
  { last: '7d', title: 'the last 7 days' },
  { last: '30d', title: 'the last 30 days' },
];
const SPAN = 'span';

interface TimeFilterProps {
  readonly filter: ListFilter;
  readonly onChange: (changed: ListFilter) => void;
}

export function TimeFilter({ filter, onChange }: TimeFilterProps) {
  const { last = '', from = '', to = '' } = filter;
  const [isSpan, setSpan] = useState(from !== '' || to !== '');
  const choices = [...LENGTHS, ...(isListed(last) ? [] : [{ last, title: `the last ${last}` }])];
  const choose = (chosen: string) => {
    setSpan(chosen === SPAN);
    onChange({ last: chosen === SPAN ? '' : chosen, from: '', to: '' });
  };
  const isSpanShown = isSpan || from !== '' || to !== '';
  return (
    <>
      <Field label="Time">
        {(attributes) => (
          <select
            {...attributes}
            value={isSpanShown ? SPAN : last}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            <option value="">Any</option>
            {choices.map((choice) => (
              <option key={choice.last} value={choice.last}>
                {choice.title}
              </option>
            ))}
            <option value={SPAN}>from … to …</option>
          </select>
        )}
      </Field>
      {isSpanShown && (
        <>
          <TimeField label="From" iso={from} onChange={(value) => onChange({ from: value })} />
          <TimeField label="To" iso={to} onChange={(value) => onChange({ to: value })} />
        </>
      )}
    </>
  );
}

function isListed(last: string): boolean {
  return last === '' || LENGTHS.some((each) => each.last === last);
}

interface TimeFieldProps {
  readonly label: string;
  readonly iso: string;
  readonly onChange: (iso: string) => void;
}

/** Times are typed in the browser's time zone. */
function TimeField({ label, iso, onChange }: TimeFieldProps) {
  return (
    <Field label={label}>
      {(attributes) => (
        <input
          {...attributes}
          type="datetime-local"
          value={toLocalTime(iso)}
          onChange={({ currentTarget: { value } }) =>
            onChange(value === '' ? '' : new Date(value).toISOString())
          }
        />
      )}
    </Field>
  );
}
