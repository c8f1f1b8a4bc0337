import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Key } from '../../api/api-types.ts';
import { mayAct } from '../../api/session.ts';
import { formatCount, formatCreditAmount } from '../../format.ts';
import { showLimitTexts } from '../../limit-texts.ts';
import { showSecret } from '../../new-secrets.ts';
import { Badge } from '../../parts/badge.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { AccountLink } from '../account-link.tsx';
import { GroupLink } from '../groups/group-link.tsx';
import { showControls } from './control-texts.ts';
import { ControlsForm } from './controls-form.tsx';
import { nameKey } from './name-key.ts';
import { RotateKey } from './rotate-key.tsx';

interface KeyHeadProps {
  readonly shown: Key;
  readonly onChanged: () => void;
}

/** Shows what a key is and may do, and the actions on it. */
export function KeyHead({ shown, onChanged }: KeyHeadProps) {
  const [open, setOpen] = useState<'edit' | 'rotate' | 'revoke' | undefined>();
  const close = () => setOpen(undefined);
  const name = nameKey(shown);
  return (
    <>
      <KeyFacts shown={shown} />
      {shown.status === 'expired' && (
        <p>This key has ended: it is refused until it gets another time to end at, or none.</p>
      )}
      {shown.status === 'revoked' ? (
        <p>A revoked key cannot be changed any more.</p>
      ) : (
        mayAct('operator') && <KeyButtons onOpen={setOpen} />
      )}
      {open === 'edit' && (
        <ControlsForm
          title={`Edit ${name}`}
          verb="Save"
          account={shown.account}
          before={showControls(shown)}
          version={shown.version}
          onClose={close}
          onSubmit={async (controls) => {
            await api.changeKey(shown.id, controls);
            close();
            onChanged();
          }}
        />
      )}
      {open === 'rotate' && (
        <RotateKey
          shown={shown}
          onClose={close}
          onRotated={(rotated) => {
            showSecret({
              title: `New secret: ${shown.name || shown.id}`,
              secret: rotated,
              kind: 'key',
            });
            close();
            onChanged();
          }}
        />
      )}
      {open === 'revoke' && (
        <ConfirmDialog
          title="Revoke this key?"
          subject={name}
          verb="Revoke"
          onClose={close}
          onConfirm={async () => {
            await api.revokeKey(shown.id);
            onChanged();
          }}
        >
          Every secret of this key is refused from now on. This is final.
        </ConfirmDialog>
      )}
    </>
  );
}

interface KeyButtonsProps {
  readonly onOpen: (opened: 'edit' | 'rotate' | 'revoke') => void;
}

function KeyButtons({ onOpen }: KeyButtonsProps) {
  return (
    <div class="bar-of-buttons">
      <button type="button" onClick={() => onOpen('edit')}>
        Edit controls
      </button>
      <button type="button" onClick={() => onOpen('rotate')}>
        Rotate
      </button>
      <button type="button" class="danger" onClick={() => onOpen('revoke')}>
        Revoke
      </button>
    </div>
  );
}

function KeyFacts({ shown }: { readonly shown: Key }) {
  const { account, rpm, models, concurrency, group, monthly_cap: cap } = shown;
  const { expires_at: expiresAt, created_at: createdAt, rotated_at: rotatedAt } = shown;
  return (
    <Facts
      facts={[
        { name: 'Status', value: <Badge key="status" state={shown.status} /> },
        {
          name: 'Account',
          value: <AccountLink key="account" id={account} />,
        },
        {
          name: 'Requests in a rate window',
          value: rpm === null ? 'those of the plan' : formatCount(rpm),
        },
        { name: 'Models', value: models === null ? 'all' : models.join(', ') },
        {
          name: 'Monthly cap',
          value: cap === null ? 'none' : `${formatCreditAmount(cap)} credits`,
        },
        {
          name: 'Requests at the same time',
          value: concurrency === null ? 'no limit' : formatCount(concurrency),
        },
        { name: 'Group', value: group === null ? 'none' : <GroupLink key="group" id={group} /> },
        { name: 'Limits', value: showLimitTexts(shown.limits) || 'none' },
        {
          name: 'Limits of each end user',
          value: showLimitTexts(shown.user_limits) || 'none',
        },
        { name: 'End user required', value: shown.require_user ? 'yes' : 'no' },
        {
          name: 'Ends at',
          value: expiresAt === null ? 'never' : <Moment key="expires" iso={expiresAt} />,
        },
        { name: 'Created', value: <Moment key="created" iso={createdAt} /> },
        {
          name: 'Rotated',
          value: rotatedAt === null ? 'never' : <Moment key="rotated" iso={rotatedAt} />,
        },
      ]}
    />
  );
}
