/**
 * Pieces of words with the space before them, like the tokens of a real model. Every character is
 * in one.
 */
const TOKEN = / ?[\p{L}\p{N}]{1,8}| ?[^\s\p{L}\p{N}]{1,3}|\s{1,8}/gu;

/** The tokens of a text. Joined, they are the text again. */
export function splitTokens(text: string): string[] {
  return text.match(TOKEN) ?? [];
}
