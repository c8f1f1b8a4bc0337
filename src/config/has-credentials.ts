/** Addresses are shown to operators and in logs. */
const CREDENTIAL = /key|token|secret|auth|code|sig|pass/i;

/** Judges by the names of the parameters. */
export function hasCredentials(query: URLSearchParams): boolean {
  return [...query.keys()].some((name) => CREDENTIAL.test(name));
}
