import { isWaiting, pageNumber, token } from './api/session.ts';
import { newSecrets } from './new-secrets.ts';
import { SecretDialog } from './parts/secret-dialog.tsx';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';
import { SignInDialog } from './sign-in-dialog.tsx';

/**
 * A new secret is shown above everything else, whatever happens to the page and the session behind
 * it. If the session ends, the page waits behind the sign-in, where nobody can see or use it.
 */
export function App() {
  const [shown] = newSecrets.value;
  const isKept = isWaiting.value;
  return (
    <>
      {token.value === undefined && !isKept ? (
        <SignIn />
      ) : (
        <div key={pageNumber.value} class={isKept ? 'withheld' : undefined} inert={isKept}>
          <Shell />
        </div>
      )}
      {shown !== undefined && <SecretDialog key={shown.secret} shown={shown} />}
      {isKept && shown === undefined && <SignInDialog />}
    </>
  );
}
