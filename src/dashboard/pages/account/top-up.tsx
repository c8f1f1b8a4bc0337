import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Account, PaymentResult } from '../../api/api-types.ts';
import { formatCreditAmount } from '../../format.ts';
import { useAction } from '../../loading/use-action.ts';
import { parseNumber } from '../../parse-number.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { TextField } from '../../parts/text-field.tsx';

interface TopUpProps {
  readonly account: Account;
  readonly id: string;
  readonly onIdChange: (id: string) => void;
  readonly onEntered: (payment: PaymentResult) => void;
  readonly onClose: () => void;
}

export function TopUp({ account, id, onIdChange, onEntered, onClose }: TopUpProps) {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const action = useAction(async () => {
    const credits = parseNumber(amount, 'amount') ?? 0;
    onEntered(await api.addCredits(account.id, { amount: credits, id: id.trim(), note }));
    onClose();
  });
  const { problem } = action;
  return (
    <FormDialog
      title={`Top up ${account.name}`}
      verb="Enter payment"
      shownFields={['amount', 'id', 'note']}
      {...{ action, onClose }}
    >
      <p>Balance: {formatCreditAmount(account.balance)} credits.</p>
      <TextField
        label="Credits"
        name="amount"
        hint="With at most 6 decimals; below 0 they are taken from the balance."
        value={amount}
        onChange={setAmount}
        isRequired
        problem={problem}
      />
      <TextField
        label="Payment id"
        name="id"
        hint="A payment is entered once for each id, however often it is sent."
        value={id}
        onChange={onIdChange}
        problem={problem}
      />
      <TextField label="Note" name="note" value={note} onChange={setNote} problem={problem} />
    </FormDialog>
  );
}
