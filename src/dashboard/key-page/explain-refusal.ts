interface RefusalFacts {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly message: string;
  /** Seconds, as the answer says it. */
  readonly retryAfter?: string | undefined;
}

/** The gateway's message for an unknown key, which is written for programs. */
const UNKNOWN_KEY = 'invalid x-api-key';

/** Explains why a key cannot be shown, to the person who pasted it in. */
export function explainRefusal({ status, message, retryAfter }: RefusalFacts): string {
  const sentence = toSentence(message);
  if (status === 0) return `${sentence} Try again in a moment.`;
  if (status === 401) {
    return message === UNKNOWN_KEY
      ? 'This gateway does not know the key. Copy it whole, from sk-gw2- to its last character.'
      : `${sentence} Ask whoever gave it to you for another one.`;
  }
  if (retryAfter !== undefined) return `${sentence} Try again in ${retryAfter} s.`;
  return sentence;
}

function toSentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return text.endsWith('.') ? text : `${text}.`;
}
