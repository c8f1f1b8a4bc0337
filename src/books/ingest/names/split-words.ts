const WORDS_MAX = 20;
const CHARS_MAX = 64;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/u;

/** The words by which a name is found, in lower case, each once. */
export function splitWords(name: string): string[] {
  const words = name.normalize('NFC').toLowerCase().split(BETWEEN_WORDS);
  const cut = words.filter((word) => word !== '').map((word) => word.slice(0, CHARS_MAX));
  return [...new Set(cut)].slice(0, WORDS_MAX);
}
