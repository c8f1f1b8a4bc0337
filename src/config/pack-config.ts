import { Secret } from '../lib/secret.ts';
import type { Config } from './config.ts';
import { deepFreeze } from './deep-freeze.ts';

/** The result of `packConfig`, after it has arrived in another process. */
export type PackedConfig = unknown;

/**
 * The only key of the map that stands for a secret. Settings contain no maps, so nothing else looks
 * like it.
 */
const SECRET = 'secret';

/**
 * Packs the settings as a message to another process, which then needs neither the parser nor the
 * schema. A message cannot carry a `Secret` by itself.
 */
export function packConfig(config: Config): PackedConfig {
  return mapValues(config, (value) =>
    value instanceof Secret ? new Map([[SECRET, value.reveal()]]) : undefined,
  );
}

export function unpackConfig(packed: PackedConfig): Config {
  const config = mapValues(packed, (value) =>
    value instanceof Map ? new Secret(String(value.get(SECRET))) : undefined,
  );
  return deepFreeze(config as Config);
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
