import { api } from '../../api/api.ts';
import { useLoad } from '../../loading/use-load.ts';
import { Field } from '../../parts/field.tsx';
import { nameKey } from '../key/name-key.ts';
import { type FilterControl, FilterText } from './filter-fields.tsx';

/** Offers the keys of the chosen account by name; without an account, a key is named by its id. */
export function KeyFilter({ filter, problem, onChange }: FilterControl) {
  const { account = '', key = '' } = filter;
  if (account === '') {
    return (
      <FilterText
        name="key"
        label="Key"
        placeholder="Any; or its id"
        {...{ filter, problem, onChange }}
      />
    );
  }
  return (
    <KeyChoice account={account} chosen={key} onChange={(picked) => onChange({ key: picked })} />
  );
}

interface KeyChoiceProps {
  readonly account: string;
  readonly chosen: string;
  readonly onChange: (key: string) => void;
}

function KeyChoice({ account, chosen, onChange }: KeyChoiceProps) {
  const { value } = useLoad((signal) => api.listKeys(account, signal), { of: [account] });
  const keys = value?.data ?? [];
  const isListed = chosen === '' || keys.some(({ id }) => id === chosen);
  return (
    <Field label="Key">
      {(attributes) => (
        <select
          {...attributes}
          value={chosen}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <option value="">Any</option>
          {keys.map((key) => (
            <option key={key.id} value={key.id}>
              {nameKey(key)}
            </option>
          ))}
          {!isListed && <option value={chosen}>{chosen}</option>}
        </select>
      )}
    </Field>
  );
}
