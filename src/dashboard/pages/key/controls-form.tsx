import { useState } from 'preact/hooks';
import type { KeyControls } from '../../api/api-types.ts';
import { useAction } from '../../loading/use-action.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { type ControlName, type ControlTexts, readControls } from './control-texts.ts';

interface ControlsFormProps {
  readonly title: string;
  readonly verb: string;
  readonly before: ControlTexts;
  /** Has to close the form itself. */
  readonly onSubmit: (controls: KeyControls) => Promise<void>;
  readonly onClose: () => void;
}

const FIELDS: readonly { name: ControlName; label: string; hint: string }[] = [
  { name: 'name', label: 'Name', hint: 'What it is for.' },
  { name: 'rpm', label: 'Requests a minute', hint: 'Empty: those of the plan.' },
  {
    name: 'models',
    label: 'Models',
    hint: 'Ids and aliases, separated by commas. Empty: all models.',
  },
  {
    name: 'monthly_cap',
    label: 'Monthly cap',
    hint: 'Credits a calendar month, UTC. Empty: no cap.',
  },
  { name: 'concurrency', label: 'Requests at the same time', hint: 'Empty: no limit.' },
  {
    name: 'limits',
    label: 'Limits',
    hint: 'Such as tokens=400000/1m, credits=25/day:warn.',
  },
  { name: 'user_limits', label: 'Limits of each end user', hint: 'Empty: none.' },
  { name: 'expires_at', label: 'Ends at', hint: 'In the time of this browser. Empty: never.' },
];
const NAMES = FIELDS.map(({ name }) => name);

/** A form for the controls of a new or an existing key. */
export function ControlsForm({ title, verb, before, onSubmit, onClose }: ControlsFormProps) {
  const [texts, setTexts] = useState(before);
  // The values from when the form opened: if the page reads the key again, they stay the same here.
  const [shown] = useState(before);
  const action = useAction(async () => onSubmit(readControls(shown, texts)));
  return (
    <FormDialog {...{ title, verb, action, onClose }} shownFields={NAMES}>
      {FIELDS.map(({ name, label, hint }) => (
        <TextField
          key={name}
          {...{ name, label, hint }}
          isTime={name === 'expires_at'}
          value={texts[name]}
          onChange={(text) => setTexts({ ...texts, [name]: text })}
          problem={action.problem}
        />
      ))}
    </FormDialog>
  );
}
