import type { ApiProblem } from '../../api/api-problem.ts';
import { Field } from '../field.tsx';
import { findFieldError } from '../problem.tsx';

interface LimitsFieldProps {
  readonly label: string;
  /** The name of the field in the admin API. */
  readonly name: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problem: ApiProblem | undefined;
}

const ROWS_MIN = 2;

/** A list of limits, one on each line. */
export function LimitsField({ label, name, hint, value, onChange, problem }: LimitsFieldProps) {
  return (
    <Field {...{ label, hint }} error={findFieldError(problem, name)}>
      {(attributes) => (
        <textarea
          {...attributes}
          rows={Math.max(ROWS_MIN, value.split('\n').length)}
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
