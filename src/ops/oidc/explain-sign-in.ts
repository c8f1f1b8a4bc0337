import { explainError } from '../ops-problem.ts';

/** Why somebody is not signed in, in words for them. */
export class SignInProblem extends Error {
  override readonly name = 'SignInProblem';
  readonly status: number;
  /** Whether anybody can cause this refusal, as often as they like. */
  readonly isForAnybody: boolean;

  constructor(status: number, message: string, { isForAnybody = false } = {}) {
    super(message);
    this.status = status;
    this.isForAnybody = isForAnybody;
  }
}

interface Explanation {
  readonly status: number;
  /** For a page and for the log. It never has what the provider sent, apart from its error code. */
  readonly message: string;
  readonly code: string;
  /** Whether the provider or Redis is in trouble, rather than somebody being refused. */
  readonly isOurs: boolean;
}

/** The codes of `openid-client` for a provider that does not answer as it should. */
const TROUBLE = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_PARSE_ERROR',
]);
const CODE_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/;

export function explainSignIn(error: unknown): Explanation {
  if (error instanceof SignInProblem) {
    return { status: error.status, message: error.message, code: 'refused', isOurs: false };
  }
  const known = explainError(error);
  if (known !== undefined) {
    return { status: known.status, message: known.message, code: known.code, isOurs: true };
  }
  const { code, error: reported, name } = error as Readonly<Record<string, unknown>>;
  const shown = [reported, code, name].find(
    (text) => typeof text === 'string' && CODE_PATTERN.test(text),
  );
  const named = String(shown ?? 'unknown');
  // Network errors of fetch have no code of the library.
  const isOurs = TROUBLE.has(String(code)) || !String(code).startsWith('OAUTH_');
  return isOurs
    ? { status: 502, message: `the provider cannot be asked (${named})`, code: named, isOurs }
    : { status: 400, message: `the provider's answer was refused (${named})`, code: named, isOurs };
}
