export interface LuaHeader {
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** Arguments that are repeated for each further request. */
  readonly each: readonly string[];
  /** Files of the folder `lua` that the script needs in front of it. */
  readonly uses: readonly string[];
  /**
   * Files of the same folder whose functions the script makes only when a request needs them, by a
   * call of `lists()`.
   */
  readonly lists: readonly string[];
}

/** Stands for a list without names: an empty line would look like something forgotten. */
const EMPTY_LIST = '-';

const LISTS =
  /^ +KEYS +(\S[\s\S]*?)\n +ARGV +(\S[\s\S]*?)\n(?: +Each +(\S[^\n]*)\n)?(?: +Uses +(\S[^\n]*)\n)?(?: +Lists +(\S[^\n]*)\n)? +Reply +\S/m;

/**
 * Reads the comment that every script starts with:
 *
 *   #!lua flags=allow-oom            (this line may be missing)
 *   --[[
 *     Reserve: one sentence.
 *
 *     KEYS  balance, holds           (a long list continues on the next line)
 *     ARGV  -
 *     Each  request_id, micros       (once or several times after ARGV; this line may be missing)
 *     Uses  numbers, money           (this line may be missing)
 *     Lists limits, demands          (this line may be missing)
 *     Reply {'ok', balance_micros}
 *   ]]
 */
export function parseLuaHeader(text: string): LuaHeader {
  const comment = /^(?:#!lua[^\n]*\n)?--\[\[\n([\s\S]*?)\n\]\]/.exec(text)?.[1];
  if (comment === undefined) {
    throw new Error('the script must start with a comment --[[ … ]], after #!lua if there is one');
  }
  if (!/^ +[A-Z][a-z]+: \S/.test(comment)) {
    throw new Error('the comment must start with what the script does: "  Name: one sentence."');
  }
  const lists = LISTS.exec(comment);
  if (lists === null) {
    throw new Error('the comment must have the lines KEYS, ARGV and Reply, in this order');
  }
  return {
    keys: parseNames(lists[1] ?? ''),
    args: parseNames(lists[2] ?? ''),
    each: parseNames(lists[3] ?? EMPTY_LIST),
    uses: parseNames(lists[4] ?? EMPTY_LIST),
    lists: parseNames(lists[5] ?? EMPTY_LIST),
  };
}

function parseNames(list: string): readonly string[] {
  if (list.trim() === EMPTY_LIST) return [];
  const names = list.split(',').map((name) => name.trim());
  const odd = names.find((name) => !/^[a-z][a-z0-9_]*$/.test(name));
  if (odd !== undefined) {
    throw new Error(
      `"${odd}" is not a name in snake_case; names are separated by commas, none is "${EMPTY_LIST}"`,
    );
  }
  return names;
}
