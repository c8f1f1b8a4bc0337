import { readFileSync } from 'node:fs';

/**
 * The kinds of replies that the header of a script names in braces, or in quotes if there are no
 * braces.
 */
export function repliesOfHeader(script: string): string[] {
  const source = readFileSync(`src/quota/scripts/${script}.lua`, 'utf8');
  const replies = /\n {2}Reply ([\s\S]*?)(\n\n|\n\]\])/.exec(source)?.[1] ?? '';
  const inBraces = [...replies.matchAll(/\{'([a-z_]+)'/g)];
  const found = inBraces.length > 0 ? inBraces : [...replies.matchAll(/'([a-z_]+)'/g)];
  return found.map((match) => match[1] ?? '');
}

/** The kind of a reply, or those of the replies to all requests of a run. */
export function kindsOf(reply: unknown): string[] {
  if (!Array.isArray(reply)) return [String(reply)];
  return Array.isArray(reply[0]) ? reply.map(([kind]) => String(kind)) : [String(reply[0])];
}
