import type { TargetedInputEvent } from 'preact';
import type { ApiProblem } from '../api/api-problem.ts';
import { Field } from './field.tsx';
import { findFieldError } from './problem.tsx';

interface TextFieldProps {
  readonly label: string;
  /** The name of the field in the admin API. */
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problem: ApiProblem | undefined;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly isTime?: boolean;
}

/**
 * Numbers are typed as text too: from a number field, a browser returns an empty value for a number
 * that it does not understand.
 */
export function TextField(props: TextFieldProps) {
  const { label, name, value, onChange, problem, hint, isRequired = false, isTime = false } = props;
  return (
    <Field
      label={label}
      error={findFieldError(problem, name)}
      {...(hint !== undefined && { hint })}
    >
      {(attributes) => {
        const all = {
          ...attributes,
          autocomplete: 'off',
          required: isRequired,
          value,
          onInput: (event: TargetedInputEvent<HTMLInputElement>) =>
            onChange(event.currentTarget.value),
        };
        return isTime ? <input {...all} type="datetime-local" /> : <input {...all} type="text" />;
      }}
    </Field>
  );
}
