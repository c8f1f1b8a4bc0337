import { createHash } from 'node:crypto';
import type { Config } from './config.ts';
import { maskSettings } from './mask-settings.ts';

/** As a number, a metric has all of it: that is a double. */
const HASH_CHARS = 12;

/** Equal on nodes with equal settings, whatever their secrets are. */
export function hashSettings(config: Config): string {
  const settings = JSON.stringify(maskSettings(config));
  return createHash('sha256').update(settings).digest('hex').slice(0, HASH_CHARS);
}

/**
 * Names the settings that hold: `3f9a0c12be44-2`. Equal settings have equal hashes on every node; secrets are
 * not part of it. The count is that of the times the node has taken settings, from 1, so that a change of a
 * secret shows too.
 */
export function configVersion(config: Config, count: number): string {
  return `${hashSettings(config)}-${count}`;
}
