import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  /** Whoever opened it forgets the secret here. */
  readonly onClose: () => void;
}

/** The only place that ever shows the text of a key. */
export function SecretDialog({ title, secret, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        <strong>This key is shown only now.</strong> Tollgate keeps no copy: when this is closed,
        nobody can read it again. Store it where secrets are kept.
      </p>
      <p>
        <code>{secret}</code>
      </p>
      <CopyButton text={secret} what="key" />
      <div class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}
