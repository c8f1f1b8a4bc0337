import { countSpannedDays, dayOf, listLastDays, spanLastDays } from '../../days.ts';
import { Field } from '../../parts/field.tsx';

const CHOICES = [7, 30, 90];
/** More bars than these are thinner than a pixel. */
const CHART_DAYS_MAX = 400;

/** Whole UTC days; both are part of the range. */
export interface DayRange {
  readonly first: string;
  readonly last: string;
}

/** The last days move with the date, such as past midnight; a range stays. */
export type RangeChoice = DayRange | { readonly lastCount: number };

export function resolveRange(choice: RangeChoice, nowMs: number): DayRange {
  if (!('lastCount' in choice)) return choice;
  const [first = ''] = listLastDays(choice.lastCount, nowMs);
  return { first, last: dayOf(nowMs) };
}

interface ChartDays {
  readonly days: readonly string[];
  /** How many days of the range are before the first day of the chart. */
  readonly missingCount: number;
}

/** The days of a chart; of a longer range only the last ones. */
export function listChartDays({ first, last }: DayRange): ChartDays {
  const days = spanLastDays(first, last, CHART_DAYS_MAX);
  return { days, missingCount: countSpannedDays(first, last) - days.length };
}

interface RangeFieldsProps {
  readonly choice: RangeChoice;
  /** What the choice is now. */
  readonly range: DayRange;
  readonly onChange: (choice: RangeChoice) => void;
}

/** Chooses the last days, or any others. */
export function RangeFields({ choice, range, onChange }: RangeFieldsProps) {
  return (
    <>
      <Field label="Days, UTC">
        {(attributes) => (
          <select
            {...attributes}
            value={'lastCount' in choice ? String(choice.lastCount) : ''}
            onChange={({ currentTarget: { value } }) =>
              onChange(value === '' ? range : { lastCount: Number(value) })
            }
          >
            {CHOICES.map((count) => (
              <option key={count} value={String(count)}>
                the last {count}
              </option>
            ))}
            <option value="">as chosen</option>
          </select>
        )}
      </Field>
      <DayField
        label="From"
        day={range.first}
        onChange={(first) => onChange({ ...range, first })}
      />
      <DayField label="To" day={range.last} onChange={(last) => onChange({ ...range, last })} />
    </>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly day: string;
  readonly onChange: (day: string) => void;
}

function DayField({ label, day, onChange }: DayFieldProps) {
  return (
    <Field label={label}>
      {(attributes) => (
        <input
          {...attributes}
          type="date"
          required
          value={day}
          onChange={({ currentTarget: { value } }) => {
            if (value !== '') onChange(value);
          }}
        />
      )}
    </Field>
  );
}
