import { useEffect, useRef } from 'preact/hooks';
import { me, signOut } from './api/session.ts';
import { Dialog } from './parts/dialog.tsx';
import { SignInForm } from './sign-in.tsx';

/** Stands above a page whose session has ended. */
export function SignInDialog() {
  useFocusReturn();
  return (
    <Dialog title="Sign in again" onClose={() => {}}>
      <SignInForm isAgain />
      <p>
        This page waits for {me.value?.name} ({me.value?.role}), with all that is not saved. If
        somebody else signs in, it is lost.
      </p>
      <div class="buttons">
        <button type="button" onClick={() => signOut()}>
          Give up the page
        </button>
      </div>
    </Dialog>
  );
}

/** A page that is hidden loses the focus, and the browser does not give it back. */
function useFocusReturn(): void {
  const focused = useRef(document.activeElement);
  useEffect(
    () => () => {
      // The dialog is still open now, and keeps the focus.
      queueMicrotask(() => {
        if (focused.current instanceof HTMLElement) focused.current.focus();
      });
    },
    [],
  );
}
