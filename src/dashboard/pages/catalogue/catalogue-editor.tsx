import { useEffect, useRef } from 'preact/hooks';
import type { CatalogueReport, CatalogueResult } from '../../api/api-types.ts';
import { formatTime } from '../../format.ts';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { ChangeTable } from './change-table.tsx';
import { ConflictNotice } from './conflict-notice.tsx';
import { type CatalogueDraft, useDraft } from './use-draft.ts';

interface CatalogueEditorProps {
  /** What the change begins with. */
  readonly first: CatalogueReport;
  readonly onApplied: (result: CatalogueResult) => void;
  readonly onClose: () => void;
}

/** Edits the whole document. Nothing is applied before the node has shown what it changes. */
export function CatalogueEditor({ first, onApplied, onClose }: CatalogueEditorProps) {
  const draft = useDraft(first, onApplied);
  const { base, text, from, tried, isLate, write, trial, applying } = draft;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    trial.run();
  };
  return (
    <section aria-label="Change of the catalogue">
      <h2 ref={heading} tabIndex={-1}>
        Change of version {base}
      </h2>
      <form onSubmit={submit}>
        <Field label="Catalogue" hint="JSON. A model without routes is asked of all upstreams.">
          {(attributes) => (
            <textarea
              {...attributes}
              class="text-body document"
              spellcheck={false}
              autocomplete="off"
              value={text}
              onInput={(event) => write({ text: event.currentTarget.value })}
            />
          )}
        </Field>
        <TextField
          label="Holds from"
          name="from"
          hint="In your time zone. Empty: at once."
          value={from}
          onChange={(value) => write({ from: value })}
          problem={trial.problem}
          isTime
        />
        <Problem problem={trial.problem} shownFields={['from']} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={tried === undefined ? 'primary' : undefined}
            disabled={trial.isRunning || applying.isRunning}
          >
            Show changes
          </button>
        </div>
      </form>
      {isLate === true && (
        <ConflictNotice base={base} onKeep={draft.rebase} onTake={draft.restart} />
      )}
      {tried !== undefined && <TriedChanges tried={tried} applying={applying} />}
    </section>
  );
}

function TriedChanges({
  tried: { change, changes },
  applying,
}: Pick<CatalogueDraft, 'applying'> & { readonly tried: NonNullable<CatalogueDraft['tried']> }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [change]);
  const time = change.from === undefined ? 'at once' : `from ${formatTime(change.from)}`;
  return (
    <>
      <h3 ref={heading} tabIndex={-1}>
        {changes.length === 0 ? 'Nothing changes' : 'What changes'}
      </h3>
      {changes.length > 0 && (
        <>
          <ChangeTable
            caption={`Fields that differ from version ${change.base_version}`}
            changes={changes}
          />
          <Problem problem={applying.problem} />
          <div class="buttons">
            <button
              type="button"
              class="primary"
              disabled={applying.isRunning}
              onClick={applying.run}
            >
              Apply {time}
            </button>
          </div>
        </>
      )}
    </>
  );
}
