import type { Sealer } from '../../sealed-reasoning.ts';

/**
 * A thought stands in several places of a stream, and is the same in all of them. Upstreams may
 * give two thoughts the same id.
 */
export function rememberSeals(seal: Sealer | undefined): Sealer | undefined {
  if (seal === undefined) return undefined;
  const known = new Map<string, string | undefined>();
  return (thought) => {
    if (thought.type !== 'reasoning') return seal(thought);
    const name = `${thought.id}\n${thought.encrypted}`;
    if (!known.has(name)) known.set(name, seal(thought));
    return known.get(name);
  };
}
