import { createHash } from 'node:crypto';
import type { Config } from './config.ts';
import { maskSettings } from './mask-settings.ts';

/** A metric shows the whole hash as a number: 12 hex digits fit into a double. */
const HASH_CHARS = 12;

/** Equal on nodes with equal settings. Secrets do not count. */
function hashSettings(config: Config): string {
  return hash(maskSettings(config));
}

/**
 * Equal on nodes that differ only in secrets and in what belongs to their machine: addresses,
 * folder, workers.
 */
export function hashSharedSettings(config: Config): string {
  const { listen: _, data_dir: __, workers: ___, ops, ...shared } = maskSettings(config);
  return hash({ ...shared, ops: { admin_token: ops.admin_token } });
}

function hash(settings: object): string {
  const text = JSON.stringify(settings);
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS);
}

/**
 * Names the settings in use: `3f9a0c12be44-2`. Equal settings have equal hashes on every node.
 * Secrets are not part of the hash. The number after it counts how many times the node has taken
 * settings, from 1, so that a change of a secret shows too.
 */
export function configVersion(config: Config, count: number): string {
  return `${hashSettings(config)}-${count}`;
}
