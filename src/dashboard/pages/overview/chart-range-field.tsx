import { Field } from '../../parts/field.tsx';

/** How much time the charts show. */
export type ChartRange = 'hour' | 'minutes';

interface ChartRangeFieldProps {
  readonly range: ChartRange;
  readonly onChange: (range: ChartRange) => void;
}

export function ChartRangeField({ range, onChange }: ChartRangeFieldProps) {
  return (
    <div class="bar-of-buttons">
      <Field label="Charts of">
        {(attributes) => (
          <select
            {...attributes}
            value={range}
            onChange={({ currentTarget: { value } }) =>
              onChange(value === 'minutes' ? 'minutes' : 'hour')
            }
          >
            <option value="hour">the last hour</option>
            <option value="minutes">the last five minutes</option>
          </select>
        )}
      </Field>
    </div>
  );
}
