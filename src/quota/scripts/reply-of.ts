type Values = readonly (string | number)[];

/** What a script that takes several requests said of one of them: one reply for all, or a list of replies. */
export function replyOf(reply: unknown, index: number): Values {
  const [first] = reply as readonly (string | number | Values)[];
  return Array.isArray(first) ? ((reply as readonly Values[])[index] ?? []) : (reply as Values);
}
