/** The longest name of a tool in the formats of OpenAI. */
export const TOOL_NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;

/** Returns the name by which these formats know a tool of the native one, which allows more. */
export function fitToolName(name: string): string {
  return name.length > TOOL_NAME_CHARS_MAX ? shortenToolName(name, name) : name;
}

/** Returns a name that nothing but `whole` gets. */
export function shortenToolName(name: string, whole: string): string {
  return `${name.slice(0, TOOL_NAME_CHARS_MAX - HASH_CHARS - 1)}_${hash(whole)}`;
}

/** FNV-1a. Two names of one request that get the same hash would have to be made for it. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  return (value >>> 0).toString(16).padStart(HASH_CHARS, '0');
}
