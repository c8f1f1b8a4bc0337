import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import { useLoad } from '../../loading/use-load.ts';
import { AccountPicker } from './account-picker.tsx';
import { type FilterControl, FilterSelect, FilterText } from './filter-fields.tsx';
import { countFilters, type FilterName, type ListFilter } from './list-filter.ts';
import { OwnerFilters } from './owner-filters.tsx';
import { TimeFilter } from './time-filter.tsx';

/** All outcomes of requests. */
const OUTCOMES = ['complete', 'failed', 'undelivered', 'left', 'refused'];
const WIDE = '(min-width: 64rem)';

/** Each change takes effect at once. On a phone the fields are folded away. */
export function FilterForm({ filter, problem, onChange }: FilterControl) {
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches);
  const count = countFilters(filter);
  const change = (changed: ListFilter) =>
    onChange(
      Object.fromEntries(Object.entries({ ...filter, ...changed }).filter(([, it]) => it !== '')),
    );
  return (
    <details class="filters" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Filters{count > 0 && `: ${count} set`}</summary>
      <form onSubmit={(event) => event.preventDefault()}>
        <AccountPicker
          account={filter.account ?? ''}
          onPick={(account) => change({ account, group: '', key: '' })}
        />
        <OwnerFilters {...{ filter, problem }} onChange={change} />
        <ChoiceFilters {...{ filter, problem }} onChange={change} />
        <TimeFilter filter={filter} onChange={change} />
        {RANGES.map(([name, label, placeholder]) => (
          <FilterText
            key={name}
            {...{ name, label, placeholder, filter, problem }}
            onChange={change}
          />
        ))}
        <div class="clear">
          <button type="button" disabled={count === 0} onClick={() => onChange({})}>
            Clear filters
          </button>
        </div>
      </form>
    </details>
  );
}

const RANGES: readonly (readonly [FilterName, string, string])[] = [
  ['charged_min', 'Credits from', '0'],
  ['charged_max', 'Credits to', 'any'],
  ['duration_min', 'Took from, ms', '0'],
  ['duration_max', 'Took to, ms', 'any'],
];

/** Models and upstreams of the current settings, and the one in the address. */
function ChoiceFilters({ filter, problem, onChange }: FilterControl) {
  const load = useLoad(async (signal) => {
    const [{ data }, { upstreams }] = await Promise.all([
      api.listModels(signal),
      api.readCluster(signal),
    ]);
    return { models: data.map(({ id }) => id), upstreams: upstreams.map(({ name }) => name) };
  });
  const { models = [], upstreams = [] } = load.value ?? {};
  return (
    <>
      <FilterSelect name="model" label="Model" choices={models} {...{ filter, onChange }} />
      <FilterSelect
        name="upstream"
        label="Upstream"
        choices={upstreams}
        {...{ filter, onChange }}
      />
      <FilterText
        name="status"
        label="Status"
        placeholder="429 or 5xx"
        {...{ filter, problem, onChange }}
      />
      <FilterSelect name="outcome" label="Outcome" choices={OUTCOMES} {...{ filter, onChange }} />
    </>
  );
}
