import { useState } from 'preact/hooks';
import type { Account } from '../../api/api-types.ts';
import { Field } from '../../parts/field.tsx';
import { AccountLedger } from './account-ledger.tsx';
import { AccountUsage } from './account-usage.tsx';
import { createPeriod } from './period.ts';

const DAYS = [7, 30, 90];

interface AccountRecordsProps {
  readonly account: Account;
  /** How many payments were entered on this page. Everything is read again after each payment. */
  readonly payments: number;
}

/** Shows what the ledger says about an account, for a choice of days. */
export function AccountRecords({ account, payments }: AccountRecordsProps) {
  const [days, setDays] = useState(DAYS[0] ?? 0);
  const [asked, setAsked] = useState(0);
  const turn = asked + payments;
  const period = createPeriod(days, Date.now());
  return (
    <>
      <h2>Usage and ledger</h2>
      <div class="bar-of-buttons">
        <Field label="Days, UTC">
          {(attributes) => (
            <select
              {...attributes}
              value={String(days)}
              onChange={(event) => setDays(Number(event.currentTarget.value))}
            >
              {DAYS.map((count) => (
                <option key={count} value={String(count)}>
                  the last {count}
                </option>
              ))}
            </select>
          )}
        </Field>
        <button type="button" onClick={() => setAsked(asked + 1)}>
          Read again
        </button>
      </div>
      <AccountUsage {...{ account, period, turn }} />
      <AccountLedger {...{ account, period, turn }} />
    </>
  );
}
