import { api } from '../../api/api.ts';
import { useLoad } from '../../loading/use-load.ts';
import { nameKey } from '../key/name-key.ts';
import { type FilterControl, FilterSelect, FilterText } from './filter-fields.tsx';

/**
 * Offers the groups and the keys of the chosen account by name; without an account they are named
 * by their ids.
 */
export function OwnerFilters({ filter, problem, onChange }: FilterControl) {
  const { account = '' } = filter;
  return (
    <>
      {account === '' ? (
        OWNERS.map(([name, label]) => (
          <FilterText
            key={name}
            placeholder="Any; or its id"
            {...{ name, label, filter, problem, onChange }}
          />
        ))
      ) : (
        <OwnerSelects account={account} {...{ filter, onChange }} />
      )}
      <FilterText
        name="end_user"
        label="End user"
        placeholder="Any; or its digest"
        {...{ filter, problem, onChange }}
      />
    </>
  );
}

const OWNERS = [
  ['group', 'Group'],
  ['key', 'Key'],
] as const;

interface OwnerSelectsProps extends Omit<FilterControl, 'problem'> {
  readonly account: string;
}

function OwnerSelects({ account, filter, onChange }: OwnerSelectsProps) {
  const { value } = useLoad(
    async (signal) => {
      const [groups, keys] = await Promise.all([
        api.listGroups(account, signal),
        api.listKeys(account, signal),
      ]);
      return {
        group: new Map(groups.data.map(({ id, name }) => [id, name])),
        key: new Map(keys.data.map((key) => [key.id, nameKey(key)])),
      };
    },
    { of: [account] },
  );
  return OWNERS.map(([name, label]) => (
    <FilterSelect
      key={name}
      choices={[...(value?.[name].keys() ?? [])]}
      labelOf={(id) => value?.[name].get(id) ?? id}
      {...{ name, label, filter, onChange }}
    />
  ));
}
