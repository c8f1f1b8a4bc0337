import { useId, useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Account } from '../../api/api-types.ts';
import { useDelayed } from '../../loading/use-delayed.ts';
import { useLoad } from '../../loading/use-load.ts';
import { Field } from '../../parts/field.tsx';

const CHOICES_MAX = 8;
const TYPING_MS = 250;

interface AccountPickerProps {
  /** The id of the chosen account, or nothing. */
  readonly account: string;
  readonly onPick: (account: string) => void;
}

/** Chooses an account by a part of its name. */
export function AccountPicker({ account, onPick }: AccountPickerProps) {
  return account === '' ? (
    <AccountSearch onPick={onPick} />
  ) : (
    <ChosenAccount account={account} onClear={() => onPick('')} />
  );
}

interface ChosenAccountProps {
  readonly account: string;
  readonly onClear: () => void;
}

function ChosenAccount({ account, onClear }: ChosenAccountProps) {
  const { value } = useLoad((signal) => api.getAccount(account, signal), { of: [account] });
  return (
    <Field label="Account">
      {(attributes) => (
        <span class="chosen-account">
          <input {...attributes} type="text" readOnly value={value?.name ?? account} />
          <button type="button" aria-label="Any account" onClick={onClear}>
            ✕
          </button>
        </span>
      )}
    </Field>
  );
}

/** A combobox: the arrow keys move through the accounts that were found, Enter takes one. */
function AccountSearch({ onPick }: Pick<AccountPickerProps, 'onPick'>) {
  const [typed, setTyped] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [index, setIndex] = useState(0);
  const listId = useId();
  const search = useDelayed(typed.trim(), TYPING_MS);
  const { value: found } = useLoad(
    async (signal) =>
      search === '' ? [] : (await api.listAccounts({ search, limit: CHOICES_MAX }, signal)).data,
    { of: [search] },
  );
  const choices = found ?? [];
  // Until then the accounts are those of the text before.
  const isFound = found !== undefined && search === typed.trim();
  const isShown = isOpen && isFound && search !== '';
  const pick = (account: Account | undefined) => account !== undefined && onPick(account.id);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setIndex(Math.min(Math.max(index + step, 0), Math.max(choices.length - 1, 0)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (isShown) pick(choices[index]);
    } else if (event.key === 'Escape') setOpen(false);
  };
  return (
    <Field label="Account">
      {(attributes) => (
        <span class="picker">
          <input
            {...attributes}
            type="text"
            role="combobox"
            aria-expanded={isShown}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={isShown ? choices[index] && `${listId}-${index}` : undefined}
            autocomplete="off"
            placeholder="Any; type a name"
            value={typed}
            onInput={(event) => {
              setTyped(event.currentTarget.value);
              setIndex(0);
              setOpen(true);
            }}
            // `onPick` reports a change.
            onChange={(event) => event.stopPropagation()}
            onKeyDown={move}
            onBlur={() => setOpen(false)}
          />
          <Choices id={listId} isShown={isShown} {...{ choices, index, pick }} />
        </span>
      )}
    </Field>
  );
}

interface ChoicesProps {
  readonly id: string;
  readonly isShown: boolean;
  readonly choices: readonly Account[];
  readonly index: number;
  readonly pick: (account: Account) => void;
}

function Choices({ id, isShown, choices, index, pick }: ChoicesProps) {
  return (
    <span class="choices" hidden={!isShown}>
      <span id={id} role="listbox" aria-label="Accounts">
        {choices.map((account, place) => (
          <span
            key={account.id}
            id={`${id}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === index}
            // Before the field loses the focus.
            onMouseDown={(event) => {
              event.preventDefault();
              pick(account);
            }}
          >
            {account.name} <small>{account.id}</small>
          </span>
        ))}
      </span>
      {choices.length === 0 && <span class="quiet">No account has such a name</span>}
    </span>
  );
}
