import { useEffect, useState } from 'preact/hooks';
import type { ApiProblem } from '../../api/api-problem.ts';
import { Field } from '../../parts/field.tsx';
import { findFieldError } from '../../parts/problem.tsx';
import type { FilterName, ListFilter } from './list-filter.ts';

export interface FilterControl {
  readonly filter: ListFilter;
  /** The problem of the list, for the fields that the node refused. */
  readonly problem: ApiProblem | undefined;
  readonly onChange: (changed: ListFilter) => void;
}

interface FilterTextProps extends FilterControl {
  readonly name: FilterName;
  readonly label: string;
  readonly placeholder: string;
}

/** Takes effect on Enter, and when the field is left. */
export function FilterText(props: FilterTextProps) {
  const { name, label, filter, placeholder, problem, onChange } = props;
  const taken = filter[name] ?? '';
  // A list that is live renders every two seconds, also while somebody types.
  const [typed, setTyped] = useState(taken);
  useEffect(() => setTyped(taken), [taken]);
  return (
    <Field label={label} error={findFieldError(problem, name)}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onChange={(event) => onChange({ [name]: event.currentTarget.value.trim() })}
        />
      )}
    </Field>
  );
}

interface FilterSelectProps extends Omit<FilterControl, 'problem'> {
  readonly name: FilterName;
  readonly label: string;
  readonly choices: readonly string[];
  /** What is shown for a choice; itself without it. */
  readonly labelOf?: (choice: string) => string;
}

export function FilterSelect(props: FilterSelectProps) {
  const { name, label, filter, choices, labelOf = (choice) => choice, onChange } = props;
  const value = filter[name] ?? '';
  // The choice in the address may come from earlier settings.
  const all = value === '' || choices.includes(value) ? choices : [...choices, value];
  return (
    <Field label={label}>
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          onChange={(event) => onChange({ [name]: event.currentTarget.value })}
        >
          <option value="">Any</option>
          {all.map((choice) => (
            <option key={choice} value={choice}>
              {labelOf(choice)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
