import type { ComponentChildren } from 'preact';
import type { Action } from '../loading/use-action.ts';
import { Dialog } from './dialog.tsx';
import { Problem } from './problem.tsx';

interface FormDialogProps {
  readonly title: string;
  /** The verb on the button: `Create`. */
  readonly verb: string;
  readonly action: Action;
  /** Fields whose problems are shown beside them. */
  readonly shownFields: readonly string[];
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Shows fields, the problems with them, and two buttons below. */
export function FormDialog(props: FormDialogProps) {
  const { title, verb, action, shownFields, onClose, children } = props;
  const submit = (event: Event) => {
    event.preventDefault();
    action.run();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        <Problem problem={action.problem} shownFields={shownFields} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={action.isRunning}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
