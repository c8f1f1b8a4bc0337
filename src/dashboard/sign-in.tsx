import { useEffect, useState } from 'preact/hooks';
import { checkToken } from './api/fetch-admin.ts';
import { keepToken, signOutReason } from './api/session.ts';
import { useAction } from './loading/use-action.ts';
import { Field } from './parts/field.tsx';

export function SignIn() {
  const [candidate, setCandidate] = useState('');
  const { isRunning, problem, run } = useAction(async () => {
    await checkToken(candidate.trim());
    keepToken(candidate.trim());
  });
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
      <form onSubmit={submit}>
        <Field
          label="Admin token"
          hint="It is ops.admin_token, or in the file admin-token of the data folder."
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
