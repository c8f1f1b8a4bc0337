import type { TargetedInputEvent } from 'preact';
import type { ApiProblem } from '../api/api-problem.ts';
import { Field } from './field.tsx';
import { findFieldError } from './problem.tsx';

interface TextFieldProps {
  readonly label: string;
  /** What the admin API calls it. */
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problem: ApiProblem | undefined;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly isTime?: boolean;
}

/** Figures are text too: a browser hands over a number it does not understand as nothing at all. */
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
