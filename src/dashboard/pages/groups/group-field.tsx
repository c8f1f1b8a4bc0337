import { api } from '../../api/api.ts';
import type { ApiProblem } from '../../api/api-problem.ts';
import { useLoad } from '../../loading/use-load.ts';
import { Field } from '../../parts/field.tsx';
import { findFieldError } from '../../parts/problem.tsx';

interface GroupFieldProps {
  readonly account: string;
  /** The id of the group; empty for none. */
  readonly value: string;
  readonly onChange: (group: string) => void;
  readonly problem: ApiProblem | undefined;
}

/** Offers the groups of an account by name. */
export function GroupField({ account, value, onChange, problem }: GroupFieldProps) {
  const load = useLoad((signal) => api.listGroups(account, signal), { of: [account] });
  const groups = load.value?.data ?? [];
  const isListed = value === '' || groups.some(({ id }) => id === value);
  const failure = load.problem && `The groups cannot be read: ${load.problem.message}.`;
  return (
    <Field
      label="Group"
      hint="Its limits are of all of its keys together."
      error={findFieldError(problem, 'group') ?? failure}
    >
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <option value="">None</option>
          {groups.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {!isListed && <option value={value}>{value}</option>}
        </select>
      )}
    </Field>
  );
}
