import { useState } from 'preact/hooks';
import { useAction } from '../../loading/use-action.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { PlanField } from './plan-field.tsx';

interface Details {
  readonly name: string;
  readonly plan: string;
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
  const action = useAction(async () => {
    await onSubmit({ name, plan });
    onClose();
  });
  const { problem } = action;
  return (
    <FormDialog {...{ title, verb, action, onClose }} shownFields={['name', 'plan']}>
      <TextField label="Name" name="name" value={name} onChange={setName} problem={problem} />
      <PlanField value={plan} onChange={setPlan} problem={problem} />
    </FormDialog>
  );
}
