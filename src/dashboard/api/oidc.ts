import { readProblem, toProblem } from './api-problem.ts';
import type { Me } from './api-types.ts';
import { createSessionHeaders } from './create-session-headers.ts';
import { me } from './session.ts';

const ANSWER_TIME_MAX_MS = 30_000;

export interface OidcState {
  /** Where a sign-in with an account begins. Null if the node has no provider. */
  readonly sign_in: string | null;
  readonly is_signed_in: boolean;
}

/** The sign-in with an account of an OpenID provider. These calls need no token. */
export async function readOidcState(): Promise<OidcState> {
  return (await ask('/oidc', 'GET', undefined).then((response) => response.json())) as OidcState;
}

/** Ends the session of this browser. The one at the provider continues. */
export async function endSession(): Promise<void> {
  await ask('/oidc/sign-out', 'POST', me.value);
}

async function ask(path: string, method: 'GET' | 'POST', owner: Me | undefined): Promise<Response> {
  const signal = AbortSignal.timeout(ANSWER_TIME_MAX_MS);
  const headers = createSessionHeaders(owner);
  const response = await fetch(path, { method, headers, signal }).catch((cause: unknown) => {
    throw toProblem(cause);
  });
  if (!response.ok) throw await readProblem(response);
  return response;
}
