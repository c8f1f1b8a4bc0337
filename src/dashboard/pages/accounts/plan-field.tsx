import type { ApiProblem } from '../../api/api-problem.ts';
import { Field } from '../../parts/field.tsx';
import { findFieldError } from '../../parts/problem.tsx';

const PLAN_NAMES = ['starter', 'pro', 'business', 'team'];

interface PlanFieldProps {
  readonly value: string;
  readonly onChange: (plan: string) => void;
  readonly problem: ApiProblem | undefined;
}

export function PlanField({ value, onChange, problem }: PlanFieldProps) {
  // A newer version may have set a plan that this one does not know.
  const plans = PLAN_NAMES.includes(value) ? PLAN_NAMES : [...PLAN_NAMES, value];
  return (
    <Field
      label="Plan"
      hint="It limits the requests of all keys of the account together."
      error={findFieldError(problem, 'plan')}
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
