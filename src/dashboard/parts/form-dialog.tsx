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

/** Shows fields, their problems and two buttons. It stays open while the action is running. */
export function FormDialog(props: FormDialogProps) {
  const { title, verb, action, shownFields, onClose, children } = props;
  const close = () => {
    // Nobody would see how the change ends.
    if (!action.isRunning) onClose();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    action.run();
  };
  return (
    <Dialog title={title} onClose={close}>
      <form onSubmit={submit}>
        {children}
        <Problem problem={action.problem} shownFields={shownFields} />
        <div class="buttons">
          <button type="button" disabled={action.isRunning} onClick={close}>
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
