import type { ComponentChildren } from 'preact';
import { useAction } from '../loading/use-action.ts';
import { Dialog } from './dialog.tsx';
import { Problem } from './problem.tsx';

interface ConfirmDialogProps {
  /** A question: `Revoke this key?` */
  readonly title: string;
  /** What is affected, by a name that the reader knows: `build server (…x9Kq)`. */
  readonly subject: string;
  /** What will happen. */
  readonly children: ComponentChildren;
  /** The verb on the button: `Revoke`. */
  readonly verb: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Stays open while the action runs, and closes when it is done; a refusal is shown inside. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, subject, children, verb, onConfirm, onClose } = props;
  const { isRunning, problem, run } = useAction(async () => {
    await onConfirm();
    onClose();
  });
  const close = () => {
    // Nobody would see how the action ends.
    if (!isRunning) onClose();
  };
  return (
    <Dialog title={title} onClose={close}>
      <p>
        <strong>{subject}</strong>
      </p>
      <div>{children}</div>
      <Problem problem={problem} />
      <div class="buttons">
        <button type="button" disabled={isRunning} onClick={close}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isRunning} onClick={run}>
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
