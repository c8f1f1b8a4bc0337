import { useState } from 'preact/hooks';
import type { BasedOn, WrittenLimit } from '../../api/api-types.ts';
import { baseLists } from '../../base-lists.ts';
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
  readonly before: Details & {
    /** A new account has none. */
    readonly version?: number;
  };
  /** Gets what the form says, and what of it was changed. */
  readonly onSubmit: (details: Details, changed: Partial<Details> & BasedOn) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for the name and plan of a new or an existing account. */
export function AccountForm({ title, verb, before, onSubmit, onClose }: AccountFormProps) {
  // The values from when the form opened: if the page reads the account again, they stay the same.
  const [shown] = useState(() => showDetails(before));
  const [base] = useState(before.version);
  const [now, setNow] = useState(shown);
  const action = useAction(async () => {
    const details = readDetails(now);
    const changed: Partial<Details> = {
      ...(now.name !== shown.name && { name: details.name }),
      ...(now.plan !== shown.plan && { plan: details.plan }),
      ...(now.limits !== shown.limits && { limits: details.limits }),
      ...(now.low !== shown.low && { low_balance: details.low_balance }),
    };
    await onSubmit(details, baseLists(changed, base));
    onClose();
  });
  const { problem } = action;
  const bind = (field: keyof DetailTexts) => ({
    ...{ problem, value: now[field] },
    // The first plan is filled in after the form is shown, and keeps what was typed meanwhile.
    onChange: (text: string) => setNow((last) => ({ ...last, [field]: text })),
  });
  return (
    <FormDialog
      {...{ title, verb, action, onClose }}
      shownFields={['name', 'plan', 'limits', 'low_balance']}
    >
      <TextField label="Name" name="name" {...bind('name')} />
      <PlanField {...bind('plan')} />
      <LimitsField
        label="Limits"
        name="limits"
        hint="Beside its plan, such as tokens=400000/1m or credits=25/day:warn."
        {...bind('limits')}
      />
      <TextField
        label="Low balance"
        name="low_balance"
        hint="An event warns when the balance falls below this. Empty: as in the settings."
        {...bind('low')}
      />
    </FormDialog>
  );
}

function showDetails({ name, plan, limits, low_balance: low }: Details) {
  return { name, plan, limits: showLimitLines(limits), low: String(low ?? '') };
}

type DetailTexts = ReturnType<typeof showDetails>;

function readDetails({ name, plan, limits, low }: DetailTexts): Details {
  return {
    ...{ name, plan, limits: readLimitTexts(limits, 'limits') },
    low_balance: parseNumber(low, 'low_balance') ?? null,
  };
}
