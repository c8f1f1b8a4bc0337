import { token } from './api/session.ts';
import { newSecrets } from './new-secrets.ts';
import { SecretDialog } from './parts/secret-dialog.tsx';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

/**
 * A new secret is shown above everything else, whatever happens to the page and the session behind
 * it.
 */
export function App() {
  const [shown] = newSecrets.value;
  return (
    <>
      {token.value === undefined ? <SignIn /> : <Shell />}
      {shown !== undefined && <SecretDialog key={shown.secret} shown={shown} />}
    </>
  );
}
