import type { ApiProblem } from '../api/api-problem.ts';
import { Field } from './field.tsx';
import { findFieldError } from './problem.tsx';

interface CheckFieldProps {
  readonly label: string;
  /** The name of the field in the admin API. */
  readonly name: string;
  readonly hint: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly problem: ApiProblem | undefined;
}

export function CheckField({ label, name, hint, isChecked, onChange, problem }: CheckFieldProps) {
  return (
    <Field {...{ label, hint }} error={findFieldError(problem, name)}>
      {(attributes) => (
        <input
          {...attributes}
          type="checkbox"
          checked={isChecked}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )}
    </Field>
  );
}
