import { JsonPlace } from '../json/json-place.ts';

/** Says whether the pieces of a JSON object add up to a whole object. */
export interface JsonTracker {
  add(piece: string): void;
  isComplete(): boolean;
}

export function createJsonTracker(): JsonTracker {
  const json = new JsonPlace();
  let hasBegun = false;
  return {
    add(piece) {
      for (let at = 0; at < piece.length; at++) {
        json.pass(piece.charCodeAt(at));
        hasBegun ||= json.depth > 0;
      }
    },
    isComplete: () => hasBegun && json.depth <= 0 && !json.isInString,
  };
}
