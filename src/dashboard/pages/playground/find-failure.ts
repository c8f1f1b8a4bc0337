interface Payload {
  readonly error?: { readonly message?: unknown } | null;
}

/** Some formats have one more event after the one that reports a failure. */
const LAST_EVENTS = 2;

/** Returns what the end of a stream says about its failure; `undefined` if it ended well. */
export function findFailure(raw: string): string | undefined {
  const events = raw.split('\n').filter((line) => line.startsWith('data:'));
  const messages = events.slice(-LAST_EVENTS).map(readMessage);
  return messages.find((message) => message !== undefined);
}

function readMessage(line: string): string | undefined {
  try {
    const payload = JSON.parse(line.slice('data:'.length)) as Payload | null;
    const message = payload?.error?.message;
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
