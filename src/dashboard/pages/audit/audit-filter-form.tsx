import { useState } from 'preact/hooks';
import { Field } from '../../parts/field.tsx';

/** An empty text matches everything. */
export interface AuditFilterFields {
  readonly account: string;
  readonly key: string;
}

interface AuditFilterFormProps {
  readonly onFilter: (subjects: AuditFilterFields) => void;
}

export function AuditFilterForm({ onFilter }: AuditFilterFormProps) {
  const [account, setAccount] = useState('');
  const [key, setKey] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    onFilter({ account: account.trim(), key: key.trim() });
  };
  return (
    <form class="search" onSubmit={submit}>
      <Field label="Account id">
        {(attributes) => (
          <input
            {...attributes}
            type="search"
            spellcheck={false}
            value={account}
            onInput={(event) => setAccount(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Key id">
        {(attributes) => (
          <input
            {...attributes}
            type="search"
            spellcheck={false}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="buttons">
        <button type="submit" class="primary">
          Filter
        </button>
      </div>
    </form>
  );
}
