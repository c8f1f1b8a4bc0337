import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Key } from '../../api/api-types.ts';
import { useAction } from '../../loading/use-action.ts';
import { Field } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Moment } from '../../parts/moment.tsx';
import { findFieldError } from '../../parts/problem.tsx';
import { nameKey } from './name-key.ts';

const OVERLAPS = [
  { seconds: 0, words: 'at once' },
  { seconds: 3_600, words: 'after an hour' },
  { seconds: 86_400, words: 'after a day' },
  { seconds: 604_800, words: 'after a week' },
  { seconds: 2_592_000, words: 'after 30 days' },
];

interface RotateKeyProps {
  readonly shown: Key;
  /** Has to close this dialog. */
  readonly onRotated: (secret: string) => void;
  readonly onClose: () => void;
}

export function RotateKey({ shown, onRotated, onClose }: RotateKeyProps) {
  const [seconds, setSeconds] = useState(86_400);
  // As it was when the dialog opened. A second click, because no answer came, is refused if the
  // first one rotated the key: otherwise it would end the secret that clients use.
  const [base] = useState(shown.rotated_at);
  const action = useAction(async () => {
    const body = { overlap_seconds: seconds, base_rotated_at: base };
    const { key } = await api.rotateKey(shown.id, body);
    onRotated(key);
  });
  return (
    <FormDialog
      title={`Rotate ${nameKey(shown)}`}
      verb="Rotate"
      shownFields={['overlap_seconds']}
      {...{ action, onClose }}
    >
      <p>The key gets a new secret, and keeps its id, its controls and what it spent.</p>
      {base !== null && (
        <p>
          It was rotated last <Moment iso={base} />. A secret from before that ends at once.
        </p>
      )}
      <Field label="The old secret ends" error={findFieldError(action.problem, 'overlap_seconds')}>
        {(attributes) => (
          <select
            {...attributes}
            value={String(seconds)}
            onChange={(event) => setSeconds(Number(event.currentTarget.value))}
          >
            {OVERLAPS.map((overlap) => (
              <option key={overlap.seconds} value={String(overlap.seconds)}>
                {overlap.words}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}
