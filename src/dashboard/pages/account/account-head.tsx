import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Account } from '../../api/api-types.ts';
import { mayAct } from '../../api/session.ts';
import { formatCreditAmount } from '../../format.ts';
import { showLimitTexts } from '../../limit-texts.ts';
import { type Action, useAction } from '../../loading/use-action.ts';
import { Badge } from '../../parts/badge.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { AccountForm } from '../accounts/account-form.tsx';
import { mintPaymentId } from './mint-payment-id.ts';
import { TopUp } from './top-up.tsx';

interface AccountHeadProps {
  readonly account: Account;
  readonly onChanged: () => void;
  /** Called when the ledger has a new entry. */
  readonly onPaid: () => void;
}

/** Shows who the account is, what it has, and what can be changed. */
export function AccountHead({ account, onChanged, onPaid }: AccountHeadProps) {
  const { id, name, plan, limits, status, balance, held, version } = account;
  const { low_balance: lowBalance, created_at: createdAt } = account;
  const [open, setOpen] = useState<'edit' | 'top-up' | 'suspend' | undefined>();
  const [said, setSaid] = useState('');
  // The id stays until the payment is entered: a second try after a lost answer does not pay twice.
  const [paymentId, setPaymentId] = useState(mintPaymentId);
  const close = () => setOpen(undefined);
  const resume = useAction(async () => {
    await api.changeAccount(id, { status: 'active' });
    onChanged();
  });
  return (
    <>
      <Facts
        facts={[
          { name: 'Status', value: <Badge key="status" state={status} /> },
          { name: 'Plan', value: plan },
          { name: 'Limits of its own', value: showLimitTexts(limits) || 'none' },
          { name: 'Balance', value: `${formatCreditAmount(balance)} credits` },
          ...(lowBalance === null
            ? []
            : [{ name: 'Low below', value: `${formatCreditAmount(lowBalance)} credits` }]),
          { name: 'Held', value: `${formatCreditAmount(held)} credits, for requests that run` },
          { name: 'Created', value: <Moment key="created" iso={createdAt} /> },
        ]}
      />
      {mayAct('billing') && <AccountButtons {...{ status, resume }} onOpen={setOpen} />}
      <p role="status">{said}</p>
      <Problem problem={resume.problem} />
      {open === 'top-up' && (
        <TopUp
          account={account}
          id={paymentId}
          onIdChange={setPaymentId}
          onClose={close}
          onEntered={({ id: payment, amount, balance: now, repeated }) => {
            const what = repeated
              ? 'was entered before'
              : `of ${formatCreditAmount(amount)} is entered`;
            setSaid(
              `Payment ${payment} ${what}: the balance is ${formatCreditAmount(now)} credits.`,
            );
            setPaymentId(mintPaymentId());
            onChanged();
            onPaid();
          }}
        />
      )}
      {open === 'edit' && (
        <AccountForm
          title={`Edit ${name}`}
          verb="Save"
          before={{ name, plan, limits, low_balance: lowBalance, version }}
          onClose={close}
          onSubmit={async (_, changed) => {
            await api.changeAccount(id, changed);
            onChanged();
          }}
        />
      )}
      {open === 'suspend' && (
        <ConfirmDialog
          title="Suspend this account?"
          subject={`${name} (${id})`}
          verb="Suspend"
          onClose={close}
          onConfirm={async () => {
            await api.changeAccount(id, { status: 'suspended' });
            onChanged();
          }}
        >
          Requests with any of its keys are refused until it is resumed.
        </ConfirmDialog>
      )}
    </>
  );
}

interface AccountButtonsProps {
  readonly status: string;
  readonly resume: Action;
  readonly onOpen: (opened: 'edit' | 'top-up' | 'suspend') => void;
}

function AccountButtons({ status, resume, onOpen }: AccountButtonsProps) {
  return (
    <div class="bar-of-buttons">
      <button type="button" class="primary" onClick={() => onOpen('top-up')}>
        Top up
      </button>
      <button type="button" onClick={() => onOpen('edit')}>
        Edit
      </button>
      {status === 'suspended' ? (
        <button type="button" disabled={resume.isRunning} onClick={resume.run}>
          Resume
        </button>
      ) : (
        <button type="button" class="danger" onClick={() => onOpen('suspend')}>
          Suspend
        </button>
      )}
    </div>
  );
}
