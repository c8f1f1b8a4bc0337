import { useLayoutEffect, useState } from 'preact/hooks';
import { forgetSecret, type NewSecret } from '../new-secrets.ts';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';

/**
 * The only place that ever shows the text of a key or a token. Until it is copied or said to be
 * stored, the dialog asks before it closes.
 */
export function SecretDialog({ shown }: { readonly shown: NewSecret }) {
  const [isCopied, setCopied] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const close = () => forgetSecret(shown);
  useUnloadQuestion(!isCopied);
  return (
    <Dialog title={shown.title} onClose={() => (isCopied ? close() : setLeaving(true))}>
      <p>
        <strong>This {shown.kind} is shown only now.</strong> Tollgate keeps no copy: when this is
        closed, nobody can read it again. Store it where secrets are kept.
      </p>
      <p>
        <code class="secret">{shown.secret}</code>
      </p>
      <CopyButton text={shown.secret} what={shown.kind} onCopied={() => setCopied(true)} />
      {isLeaving && !isCopied ? (
        <LeaveQuestion kind={shown.kind} onStay={() => setLeaving(false)} onLeave={close} />
      ) : (
        <div class="buttons">
          <button type="button" class="primary" onClick={close}>
            I have stored it
          </button>
        </div>
      )}
    </Dialog>
  );
}

interface LeaveQuestionProps {
  readonly kind: NewSecret['kind'];
  readonly onStay: () => void;
  readonly onLeave: () => void;
}

function LeaveQuestion({ kind, onStay, onLeave }: LeaveQuestionProps) {
  return (
    <div role="alert" class="problem">
      <p>The {kind} has not been copied. Whoever closes this without a copy has lost it.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={onStay}>
          Keep it open
        </button>
        <button type="button" class="danger" onClick={onLeave}>
          Close without a copy
        </button>
      </div>
    </div>
  );
}

/**
 * The browser asks in its own words before the page is closed or reloaded, as soon as the key is on
 * the page: an effect after painting may come too late.
 */
function useUnloadQuestion(isAsked: boolean): void {
  useLayoutEffect(() => {
    if (!isAsked) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isAsked]);
}
