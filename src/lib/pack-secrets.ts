import { Secret } from './secret.ts';

/** What `packSecrets` has made, after it has arrived in another process or thread. */
export type PackedSecrets = unknown;

/**
 * The only key of the map that stands for a secret. What is packed contains no maps, so nothing
 * else looks like it.
 */
const SECRET = 'secret';

/** Packs plain values with secrets as a message, which cannot carry a `Secret` by itself. */
export function packSecrets(value: unknown): PackedSecrets {
  return mapValues(value, (one) =>
    one instanceof Secret ? new Map([[SECRET, one.reveal()]]) : undefined,
  );
}

export function unpackSecrets(packed: PackedSecrets): unknown {
  return mapValues(packed, (one) =>
    one instanceof Map ? new Secret(String(one.get(SECRET))) : undefined,
  );
}

/** Copies plain values. Each object for which `replace` returns a replacement is replaced by it. */
function mapValues(value: unknown, replace: (value: object) => object | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((item) => mapValues(item, replace));
  const entries = Object.entries(value).map(([key, item]) => [key, mapValues(item, replace)]);
  return Object.fromEntries(entries);
}
