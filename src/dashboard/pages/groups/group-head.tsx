import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Group } from '../../api/api-types.ts';
import { mayAct } from '../../api/session.ts';
import { showLimitTexts } from '../../limit-texts.ts';
import { Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { AccountLink } from '../account-link.tsx';
import { GroupForm } from './group-form.tsx';

interface GroupHeadProps {
  readonly group: Group;
  readonly onChanged: () => void;
}

/** Shows what a group is and may do, and lets it be changed. */
export function GroupHead({ group, onChanged }: GroupHeadProps) {
  const [isEditing, setEditing] = useState(false);
  const { id, name, account, created_at: createdAt } = group;
  return (
    <>
      <Facts
        facts={[
          { name: 'Account', value: <AccountLink key="account" id={account} /> },
          { name: 'Limits', value: showLimitTexts(group.limits) || 'none', isWide: true },
          {
            name: 'Limits of each end user',
            value: showLimitTexts(group.user_limits) || 'none',
            isWide: true,
          },
          { name: 'End user required', value: group.require_user ? 'yes' : 'no' },
          { name: 'Created', value: <Moment key="created" iso={createdAt} /> },
        ]}
      />
      {mayAct('operator') && (
        <div class="bar-of-buttons">
          <button type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
        </div>
      )}
      {isEditing && (
        <GroupForm
          title={`Edit ${name}`}
          verb="Save"
          before={group}
          onClose={() => setEditing(false)}
          onSubmit={async (controls) => {
            await api.changeGroup(id, controls);
            onChanged();
          }}
        />
      )}
    </>
  );
}
