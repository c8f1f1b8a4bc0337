import type { Sealer } from '../../sealed-reasoning.ts';

/** A thought stands in several places of a stream, and is the same in all of them. */
export function rememberSeals(seal: Sealer | undefined): Sealer | undefined {
  if (seal === undefined) return undefined;
  const known = new Map<string, string | undefined>();
  return (thought) => {
    const name = thought.type === 'reasoning' ? (thought.id ?? thought.encrypted) : undefined;
    if (name === undefined) return seal(thought);
    if (!known.has(name)) known.set(name, seal(thought));
    return known.get(name);
  };
}
