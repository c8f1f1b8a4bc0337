import { useState } from 'preact/hooks';
import type { WrittenLimit } from '../../api/api-types.ts';
import { readLimitTexts, showLimitLines } from '../../limit-texts.ts';
import { useAction } from '../../loading/use-action.ts';
import { parseNumber } from '../../parse-number.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LimitsField } from '../../parts/limits/limits-field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { PlanField } from './plan-field.tsx';

interface Details {
  readonly name: string;
  readonly plan: string;
  readonly limits: readonly WrittenLimit[];
  readonly low_balance: number | null;
}

interface AccountFormProps {
  readonly title: string;
  readonly verb: string;
  readonly before: Details;
  readonly onSubmit: (details: Details) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for the name and plan of a new or an existing account. */
export function AccountForm({ title, verb, before, onSubmit, onClose }: AccountFormProps) {
  const [name, setName] = useState(before.name);
  const [plan, setPlan] = useState(before.plan);
  const [limits, setLimits] = useState(showLimitLines(before.limits));
  const [low, setLow] = useState(String(before.low_balance ?? ''));
  const action = useAction(async () => {
    await onSubmit({
      ...{ name, plan, limits: readLimitTexts(limits, 'limits') },
      low_balance: parseNumber(low, 'low_balance') ?? null,
    });
    onClose();
  });
  const { problem } = action;
  return (
    <FormDialog
      {...{ title, verb, action, onClose }}
      shownFields={['name', 'plan', 'limits', 'low_balance']}
    >
      <TextField label="Name" name="name" value={name} onChange={setName} problem={problem} />
      <PlanField value={plan} onChange={setPlan} problem={problem} />
      <LimitsField
        label="Limits"
        name="limits"
        hint="Beside its plan, such as tokens=400000/1m or credits=25/day:warn."
        value={limits}
        onChange={setLimits}
        problem={problem}
      />
      <TextField
        label="Low balance"
        name="low_balance"
        hint="Credits below which an event tells of it; empty for what the settings say."
        value={low}
        onChange={setLow}
        problem={problem}
      />
    </FormDialog>
  );
}
