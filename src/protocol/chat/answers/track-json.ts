/** Whether the pieces of a JSON object make a whole one by now. */
export interface JsonTracker {
  add(piece: string): void;
  isComplete(): boolean;
}

export function createJsonTracker(): JsonTracker {
  let depth = 0;
  let hasBegun = false;
  let isInString = false;
  let isEscaped = false;

  const addInString = (char: string) => {
    if (isEscaped) isEscaped = false;
    else if (char === '\\') isEscaped = true;
    else if (char === '"') isInString = false;
  };

  return {
    add(piece) {
      for (const char of piece) {
        if (isInString) addInString(char);
        else if (char === '"') isInString = true;
        else if (char === '{' || char === '[') {
          depth += 1;
          hasBegun = true;
        } else if (char === '}' || char === ']') depth -= 1;
      }
    },
    isComplete: () => hasBegun && depth <= 0 && !isInString,
  };
}
