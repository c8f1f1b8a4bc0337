/** Also a pattern by itself, which every name matches. */
export const ANY_NAME = '*';

/** In a pattern, `*` stands for any run of characters, also an empty one. */
export function isNamePattern(text: string): boolean {
  return text.includes(ANY_NAME);
}

/** The more characters a pattern names, the more specific it is. */
export function countSaidChars(pattern: string): number {
  return pattern.replaceAll(ANY_NAME, '').length;
}

/** Matches in time that grows with the length of the name, whatever the pattern. */
export function createNameMatcher(pattern: string): (name: string) => boolean {
  const [beginning = '', ...rest] = pattern.split(ANY_NAME);
  const ending = rest.pop() ?? '';
  return (name) => {
    if (name.length < beginning.length + ending.length) return false;
    if (!name.startsWith(beginning) || !name.endsWith(ending)) return false;
    let at = beginning.length;
    for (const piece of rest) {
      const found = name.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return at <= name.length - ending.length;
  };
}

/** Whether there is a name that both patterns match. */
export function canBothMatch(one: string, other: string): boolean {
  // For each place in `other`: whether the rest from there and the rest of `one` can be the same.
  let behind: boolean[] = [];
  for (let i = one.length; i >= 0; i--) {
    const here: boolean[] = [];
    for (let j = other.length; j >= 0; j--) {
      const isEnd = i === one.length && j === other.length;
      const isAny = one[i] === ANY_NAME || other[j] === ANY_NAME;
      const isSame = one[i] === other[j] && behind[j + 1] === true;
      here[j] = isEnd || (isAny ? behind[j] === true || here[j + 1] === true : isSame);
    }
    behind = here;
  }
  return behind[0] === true;
}
