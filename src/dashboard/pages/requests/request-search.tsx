import { useState } from 'preact/hooks';
import { Field } from '../../parts/field.tsx';

/** Puts the id into the address, so that the result can be bookmarked and shared. */
export function RequestSearch({ id }: { readonly id: string }) {
  const [wanted, setWanted] = useState(id);
  const submit = (event: Event) => {
    event.preventDefault();
    location.hash = `#/requests/${encodeURIComponent(wanted.trim())}`;
  };
  return (
    <form class="search" onSubmit={submit}>
      <Field label="Request id" hint="The header request-id of every answer has it.">
        {(attributes) => (
          <input
            {...attributes}
            type="search"
            required
            pattern=".*\S.*"
            autocomplete="off"
            spellcheck={false}
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="buttons">
        <button type="submit" class="primary">
          Find
        </button>
      </div>
    </form>
  );
}
