import { useEffect } from 'preact/hooks';
import type { ApiProblem } from '../../api/api-problem.ts';
import { useLoad } from '../../loading/use-load.ts';
import { Field } from '../../parts/field.tsx';
import { findFieldError } from '../../parts/problem.tsx';
import { readCatalogue } from '../catalogue/read-catalogue.ts';

const REFRESH_MS = 5_000;

interface PlanFieldProps {
  /** Empty for the first plan that is sold. */
  readonly value: string;
  readonly onChange: (plan: string) => void;
  readonly problem: ApiProblem | undefined;
}

export function PlanField({ value, onChange, problem }: PlanFieldProps) {
  const load = useLoad(readCatalogue, { refreshMs: REFRESH_MS });
  const names = Object.keys(load.value?.sold?.plans ?? {});
  const failure = load.problem && `The plans cannot be read: ${load.problem.message}.`;
  const [first] = names;
  useEffect(() => {
    if (value === '' && first !== undefined) onChange(first);
  }, [value, first]);
  // An account may have a plan that is not sold any more.
  const plans = names.includes(value) ? names : [...names, value];
  return (
    <Field
      label="Plan"
      hint="It limits all keys of the account together."
      error={findFieldError(problem, 'plan') ?? failure}
    >
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {plans.map((plan) => (
            <option key={plan}>{plan}</option>
          ))}
        </select>
      )}
    </Field>
  );
}
