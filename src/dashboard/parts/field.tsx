import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface ControlAttributes {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
  /** Renders the input, select or textarea with the given attributes. */
  readonly children: (attributes: ControlAttributes) => ComponentChildren;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const described = [
    hint !== undefined ? `${id}-hint` : undefined,
    error !== undefined ? `${id}-error` : undefined,
  ].filter((each) => each !== undefined);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-invalid': error !== undefined,
        'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="quiet">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} role="alert" class="field-error">
          {error}
        </p>
      )}
    </div>
  );
}
