import { useState } from 'preact/hooks';
import { useAction } from '../../loading/use-action.ts';
import { Field } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { findFieldError } from '../../parts/problem.tsx';
import { TextField } from '../../parts/text-field.tsx';

const ROLE_TEXTS = {
  viewer: 'viewer: reads everything',
  billing: 'billing: also accounts, plans and credits',
  operator: 'operator: everything',
};

interface OperatorFormProps {
  readonly onSubmit: (details: { name: string; role: string }) => Promise<void>;
  readonly onClose: () => void;
}

export function OperatorForm({ onSubmit, onClose }: OperatorFormProps) {
  const [name, setName] = useState('');
  const [role, setRole] = useState('viewer');
  const action = useAction(async () => {
    await onSubmit({ name, role });
    onClose();
  });
  const { problem } = action;
  return (
    <FormDialog
      title="Create an operator"
      verb="Create"
      shownFields={['name', 'role']}
      {...{ action, onClose }}
    >
      <TextField label="Name" name="name" value={name} onChange={setName} problem={problem} />
      <Field label="Role" error={findFieldError(problem, 'role')}>
        {(attributes) => (
          <select
            {...attributes}
            value={role}
            onChange={(event) => setRole(event.currentTarget.value)}
          >
            {Object.entries(ROLE_TEXTS).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}
