import { useEffect, useState } from 'preact/hooks';
import { checkToken } from './api/fetch-admin.ts';
import { type OidcState, readOidcState } from './api/oidc.ts';
import {
  keepSession,
  keepToken,
  rememberPlace,
  returnToPlace,
  signOutReason,
} from './api/session.ts';
import { useAction } from './loading/use-action.ts';
import { Field } from './parts/field.tsx';

export function SignIn() {
  const [candidate, setCandidate] = useState('');
  const { isRunning, problem, run } = useAction(async () => {
    const token = candidate.trim();
    keepToken(token, await checkToken(token));
  });
  const oidc = useOidc();
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  return (
    <main class="sign-in">
      <h1>Tollgate</h1>
      {signOutReason.value !== undefined && <p role="status">{signOutReason.value}</p>}
      {typeof oidc?.sign_in === 'string' && (
        <p>
          <a class="button" href={oidc.sign_in} onClick={rememberPlace}>
            Sign in with your account
          </a>
        </p>
      )}
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
      <p>
        <a href="/docs">Documentation</a>
      </p>
    </main>
  );
}

/** Who has come back from the provider is signed in without a click. */
function useOidc(): OidcState | undefined {
  const [state, setState] = useState<OidcState | undefined>();
  useEffect(() => {
    const look = async () => {
      const read = await readOidcState();
      setState(read);
      // Who was signed out has to read why.
      if (!read.is_signed_in || signOutReason.value !== undefined) return;
      const owner = await checkToken(null);
      returnToPlace();
      keepSession(owner);
    };
    // A token still signs in.
    look().catch(() => {});
  }, []);
  return state;
}
