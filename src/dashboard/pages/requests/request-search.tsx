import { useEffect, useState } from 'preact/hooks';
import { Field } from '../../parts/field.tsx';

interface RequestSearchProps {
  /** The id of the request that is open. */
  readonly id: string;
  readonly onFind: (id: string) => void;
}

export function RequestSearch({ id, onFind }: RequestSearchProps) {
  const [wanted, setWanted] = useState(id);
  useEffect(() => setWanted(id), [id]);
  const submit = (event: Event) => {
    event.preventDefault();
    onFind(wanted.trim());
  };
  return (
    <form class="bar-of-buttons find" onSubmit={submit}>
      <Field label="Request id">
        {(attributes) => (
          <input
            {...attributes}
            type="search"
            required
            pattern=".*\S.*"
            autocomplete="off"
            spellcheck={false}
            placeholder="As in the header request-id of its answer"
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit">Find</button>
    </form>
  );
}
