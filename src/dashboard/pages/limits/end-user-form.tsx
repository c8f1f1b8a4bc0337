import { useState } from 'preact/hooks';
import { Field } from '../../parts/field.tsx';

interface EndUserFormProps {
  /** Called with an empty name to show no end user. */
  readonly onChosen: (user: string) => void;
}

/** Names are not kept, so there is no list of end users to choose from. */
export function EndUserForm({ onChosen }: EndUserFormProps) {
  const [typed, setTyped] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    onChosen(typed.trim());
  };
  return (
    <form class="bar-of-buttons" onSubmit={submit}>
      <Field label="Name of an end user">
        {(attributes) => (
          <input
            {...attributes}
            type="search"
            autocomplete="off"
            maxLength={512}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit">Show its limits</button>
    </form>
  );
}
