import { useEffect, useRef, useState } from 'preact/hooks';
import { checkToken } from './api/fetch-admin.ts';
import { type OidcState, readOidcState } from './api/oidc.ts';
import {
  keepSession,
  keepToken,
  me,
  rememberPlace,
  returnToPlace,
  signOutReason,
} from './api/session.ts';
import { useAction } from './loading/use-action.ts';
import { Field } from './parts/field.tsx';

export function SignIn() {
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
  }, []);
  return (
    <main class="sign-in">
      <h1>Tollgate</h1>
      <SignInForm />
      <p>
        <a href="/docs">Documentation</a>
      </p>
    </main>
  );
}

interface SignInFormProps {
  /** Whether a page waits behind it. */
  readonly isAgain?: boolean;
}

export function SignInForm({ isAgain = false }: SignInFormProps) {
  const [candidate, setCandidate] = useState('');
  const { isRunning, problem, run } = useAction(async () => {
    const token = candidate.trim();
    keepToken(token, await checkToken(token));
  });
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  return (
    <>
      {signOutReason.value !== undefined && <p role="status">{signOutReason.value}</p>}
      {isAgain ? <AgainLink /> : <AccountLink />}
      <form onSubmit={submit}>
        <Field
          label="Admin token, or a token of your own"
          hint="The admin token is ops.admin_token, or in the file admin-token of the data folder."
          error={problem?.message}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="password"
              autocomplete="current-password"
              required
              value={candidate}
              onInput={(event) => setCandidate(event.currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit" class="primary" disabled={isRunning}>
          {isRunning ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </>
  );
}

/** Whoever comes back from the provider is signed in without a click. */
function AccountLink() {
  const [oidc, setOidc] = useState<OidcState | undefined>();
  useEffect(() => {
    const check = async () => {
      const read = await readOidcState();
      setOidc(read);
      // Whoever was signed out has to read why.
      if (!read.is_signed_in || signOutReason.value !== undefined) return;
      const owner = await checkToken(null);
      returnToPlace();
      keepSession(owner);
    };
    // A token still signs in.
    check().catch(() => {});
  }, []);
  if (typeof oidc?.sign_in !== 'string') return null;
  return (
    <p>
      <a class="button" href={oidc.sign_in} onClick={rememberPlace}>
        Sign in with your account
      </a>
    </p>
  );
}

/** A sign-in at the provider loads the page again, so it takes place in another tab. */
function AgainLink() {
  const [oidc, setOidc] = useState<OidcState | undefined>();
  const hasLeft = useRef(me.value?.by === 'session');
  useEffect(() => {
    const check = async () => {
      const read = await readOidcState();
      setOidc(read);
      return read.is_signed_in;
    };
    const goOn = async () => {
      // The session in the browser may be that of somebody who has nothing to do with this page.
      if (!hasLeft.current || document.visibilityState !== 'visible') return;
      if (await check()) keepSession(await checkToken(null));
    };
    const checkAgain = () => goOn().catch(() => {});
    check().catch(() => {});
    window.addEventListener('focus', checkAgain);
    document.addEventListener('visibilitychange', checkAgain);
    return () => {
      window.removeEventListener('focus', checkAgain);
      document.removeEventListener('visibilitychange', checkAgain);
    };
  }, []);
  if (typeof oidc?.sign_in !== 'string') return null;
  return (
    <p>
      <a
        class="button"
        href={oidc.sign_in}
        target="_blank"
        rel="noopener"
        onClick={() => {
          hasLeft.current = true;
        }}
      >
        Sign in with your account
      </a>{' '}
      It opens in another tab. Come back to this one then: a page loaded anew has lost what is not
      saved.
    </p>
  );
}
