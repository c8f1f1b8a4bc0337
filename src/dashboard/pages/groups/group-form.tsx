import { useState } from 'preact/hooks';
import type { Group, GroupControls } from '../../api/api-types.ts';
import { baseLists } from '../../base-lists.ts';
import { readLimitTexts, showLimitLines } from '../../limit-texts.ts';
import { useAction } from '../../loading/use-action.ts';
import { CheckField } from '../../parts/check-field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LimitsField } from '../../parts/limits/limits-field.tsx';
import { TextField } from '../../parts/text-field.tsx';

type Bounds = Pick<Group, 'name' | 'limits' | 'user_limits' | 'require_user'> & {
  /** A new group has none. */
  readonly version?: number;
};

interface GroupFormProps {
  readonly title: string;
  readonly verb: string;
  readonly before: Bounds;
  /** Gets what was changed. */
  readonly onSubmit: (controls: GroupControls) => Promise<void>;
  readonly onClose: () => void;
}

export const NO_BOUNDS: Bounds = { name: '', limits: [], user_limits: [], require_user: false };

/** Asks for the name and the limits of a new or an existing group. */
export function GroupForm({ title, verb, before, onSubmit, onClose }: GroupFormProps) {
  // The values from when the form opened: if the page reads the group again, they stay the same.
  const [shown] = useState(() => showBounds(before));
  const [base] = useState(before.version);
  const [now, setNow] = useState(shown);
  const action = useAction(async () => {
    await onSubmit(baseLists(readChanges(shown, now), base));
    onClose();
  });
  const { problem } = action;
  return (
    <FormDialog
      {...{ title, verb, action, onClose }}
      shownFields={['name', 'limits', 'user_limits', 'require_user']}
    >
      <TextField
        label="Name"
        name="name"
        hint="A project or a team of the account."
        value={now.name}
        onChange={(name) => setNow({ ...now, name })}
        problem={problem}
      />
      <LimitsField
        label="Limits"
        name="limits"
        hint="Of all its keys together, such as tokens=400000/1m or credits=25/day:warn."
        value={now.limits}
        onChange={(limits) => setNow({ ...now, limits })}
        problem={problem}
      />
      <LimitsField
        label="Limits of each end user"
        name="user_limits"
        hint="Of keys that have no such list of their own. Empty: none."
        value={now.userLimits}
        onChange={(userLimits) => setNow({ ...now, userLimits })}
        problem={problem}
      />
      <CheckField
        label="Require an end user"
        name="require_user"
        hint="Requests that name none are refused."
        isChecked={now.isUserRequired}
        onChange={(isUserRequired) => setNow({ ...now, isUserRequired })}
        problem={problem}
      />
    </FormDialog>
  );
}

function showBounds({ name, limits, user_limits: userLimits, require_user: required }: Bounds) {
  return {
    name,
    limits: showLimitLines(limits),
    userLimits: showLimitLines(userLimits),
    isUserRequired: required,
  };
}

type BoundTexts = ReturnType<typeof showBounds>;

function readChanges(before: BoundTexts, now: BoundTexts): GroupControls {
  return {
    ...(now.name !== before.name && { name: now.name }),
    ...(now.limits !== before.limits && { limits: readLimitTexts(now.limits, 'limits') }),
    ...(now.userLimits !== before.userLimits && {
      user_limits: readLimitTexts(now.userLimits, 'user_limits'),
    }),
    ...(now.isUserRequired !== before.isUserRequired && { require_user: now.isUserRequired }),
  };
}
