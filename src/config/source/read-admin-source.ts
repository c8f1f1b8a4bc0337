import { join, resolve } from 'node:path';
import { DATA_FILES } from '../../lib/data-files.ts';
import { Secret } from '../../lib/secret.ts';
import { DEFAULT_DATA_DIR, DEFAULT_OPS_LISTEN } from '../default-settings.ts';
import { readSecretFile } from './read-secret-file.ts';

/** The address of a node's admin API, and the token for it. */
export interface AdminSource {
  /** Without a slash at its end. */
  readonly url: string;
  /** Undefined if no token was found. */
  readonly token: Secret | undefined;
  /** The file in which a node without a configured token keeps its own. */
  readonly tokenPath: string;
}

interface AdminOptions {
  readonly url: string | undefined;
  readonly dataDir: string | undefined;
}

/**
 * Options win over variables, and variables win over the defaults of a node. An empty variable
 * counts as absent.
 */
export function readAdminSource(
  options: AdminOptions,
  environment: NodeJS.ProcessEnv = process.env,
): AdminSource {
  const variable = (name: string) => environment[name] || undefined;
  const url = options.url ?? variable('TOLLGATE_ADMIN_URL') ?? `http://${DEFAULT_OPS_LISTEN}`;
  const dataDir = options.dataDir ?? variable('TOLLGATE_DATA_DIR') ?? DEFAULT_DATA_DIR;
  const tokenPath = resolve(join(dataDir, DATA_FILES.adminToken));
  const token = variable('TOLLGATE_ADMIN_TOKEN') ?? readSecretFile(tokenPath);
  return {
    url: url.replace(/\/+$/, ''),
    token: token === undefined ? undefined : new Secret(token),
    tokenPath,
  };
}
