import { join, resolve } from 'node:path';
import { DATA_FILES } from '../../lib/data-files.ts';
import { Secret } from '../../lib/secret.ts';
import { DEFAULT_DATA_DIR } from '../default-settings.ts';
import { readSecretFile } from './read-secret-file.ts';

/** The key with which a command acts as a client of the gateway. */
interface ClientKey {
  /** Undefined if no key was found. */
  readonly key: Secret | undefined;
  /** The file in which a node with an embedded Redis keeps the demo key. */
  readonly demoPath: string;
}

/**
 * The option wins over the variable, and the variable over the demo key. An empty variable counts
 * as absent.
 */
export function readClientKey(
  option: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): ClientKey {
  const dataDir = environment['TOLLGATE_DATA_DIR'] || DEFAULT_DATA_DIR;
  const demoPath = resolve(join(dataDir, DATA_FILES.demoKey));
  const key = option || environment['TOLLGATE_KEY'] || readSecretFile(demoPath);
  return { key: key === undefined ? undefined : new Secret(key), demoPath };
}
