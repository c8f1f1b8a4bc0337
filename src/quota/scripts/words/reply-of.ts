type Values = readonly (string | number)[];

/** The reply to one of the requests that a script ran together. */
export function replyOf(reply: unknown, index: number): Values {
  return (reply as readonly Values[])[index] ?? [];
}
