/** For people. If a host has several addresses, the error of all together has no message. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describeError).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
