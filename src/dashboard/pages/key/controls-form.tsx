import { useState } from 'preact/hooks';
import type { KeyControls } from '../../api/api-types.ts';
import { baseLists } from '../../base-lists.ts';
import { useAction } from '../../loading/use-action.ts';
import { CheckField } from '../../parts/check-field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LimitsField } from '../../parts/limits/limits-field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { GroupField } from '../groups/group-field.tsx';
import { type ControlName, type ControlTexts, NO_CONTROLS, readControls } from './control-texts.ts';

interface ControlsFormProps {
  readonly title: string;
  readonly verb: string;
  /** The id of the account whose key it is. */
  readonly account: string;
  readonly before: ControlTexts;
  /** The version of the key that `before` shows; a new key has none. */
  readonly version?: number;
  /** Has to close the form itself. */
  readonly onSubmit: (controls: KeyControls) => Promise<void>;
  readonly onClose: () => void;
}

interface TextControl {
  readonly name: Exclude<ControlName, 'require_user'>;
  readonly label: string;
  readonly hint: string;
}

const FIRST_FIELDS: readonly TextControl[] = [
  { name: 'name', label: 'Name', hint: 'What it is for.' },
  {
    name: 'rpm',
    label: 'Requests in a rate window',
    hint: 'A window is a minute unless limits.rate_window says otherwise. Empty: those of the plan.',
  },
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
];
const LISTS: readonly TextControl[] = [
  { name: 'limits', label: 'Limits', hint: 'Such as tokens=400000/1m or credits=25/day:warn.' },
  {
    name: 'user_limits',
    label: 'Limits of each end user',
    hint: 'Empty: those of the group, if it has any.',
  },
];

/** A form for the controls of a new or an existing key. */
export function ControlsForm(props: ControlsFormProps) {
  const { title, verb, account, before, version, onSubmit, onClose } = props;
  const [texts, setTexts] = useState(before);
  // The values from when the form opened: if the page reads the key again, they stay the same here.
  const [shown] = useState(before);
  const [base] = useState(version);
  const action = useAction(async () => onSubmit(baseLists(readControls(shown, texts), base)));
  const { problem } = action;
  const set = (changed: Partial<ControlTexts>) => setTexts({ ...texts, ...changed });
  const bind = (name: TextControl['name']) => ({
    ...{ name, problem, value: texts[name] },
    onChange: (text: string) => set({ [name]: text }),
  });
  return (
    <FormDialog {...{ title, verb, action, onClose }} shownFields={Object.keys(NO_CONTROLS)}>
      {FIRST_FIELDS.map(({ name, label, hint }) => (
        <TextField key={name} {...{ label, hint }} {...bind(name)} />
      ))}
      <GroupField account={account} {...bind('group')} />
      {LISTS.map(({ name, label, hint }) => (
        <LimitsField key={name} {...{ label, hint }} {...bind(name)} />
      ))}
      <CheckField
        label="Require an end user"
        name="require_user"
        hint="Requests that name none are refused; the group may require it too."
        isChecked={texts.require_user === 'yes'}
        onChange={(isChecked) => set({ require_user: isChecked ? 'yes' : 'no' })}
        problem={problem}
      />
      <TextField
        label="Ends at"
        hint="In the time of this browser. Empty: never."
        isTime
        {...bind('expires_at')}
      />
    </FormDialog>
  );
}
