import { type PackedSecrets, packSecrets, unpackSecrets } from '../lib/pack-secrets.ts';
import type { Config } from './config.ts';
import { deepFreeze } from './deep-freeze.ts';

/**
 * Packs the settings as a message to another process, which then needs neither the parser nor the
 * schema.
 */
export function packConfig(config: Config): PackedSecrets {
  return packSecrets(config);
}

export function unpackConfig(packed: PackedSecrets): Config {
  return deepFreeze(unpackSecrets(packed) as Config);
}
