type Values = readonly (string | number)[];

/**
 * The reply to one of several requests that a script ran together. The script answers with one
 * reply for all, or with a list of replies.
 */
export function replyOf(reply: unknown, index: number): Values {
  const [first] = reply as readonly (string | number | Values)[];
  return Array.isArray(first) ? ((reply as readonly Values[])[index] ?? []) : (reply as Values);
}
