import { Field } from '../parts/field.tsx';

interface KeyFormProps {
  readonly candidate: string;
  readonly isRunning: boolean;
  /** Whether the figures of a key are shown. */
  readonly isShown: boolean;
  readonly error: string | undefined;
  readonly onInput: (candidate: string) => void;
  readonly onSubmit: () => void;
  readonly onForget: () => void;
}

export function KeyForm(props: KeyFormProps) {
  const { candidate, isRunning, isShown, error, onInput, onSubmit, onForget } = props;
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form onSubmit={submit}>
      <Field
        label="API key"
        hint="Shows its limits, spend and balance. It stays in this page, and is sent to this gateway only."
        error={error}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={candidate}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="buttons">
        <button type="submit" class="primary" disabled={isRunning}>
          {isRunning ? 'Reading…' : 'Show my key'}
        </button>
        <button type="button" disabled={candidate === '' && !isShown} onClick={onForget}>
          Forget it
        </button>
      </div>
    </form>
  );
}
