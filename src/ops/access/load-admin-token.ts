import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILES } from '../../lib/data-files.ts';
import { Secret } from '../../lib/secret.ts';

const TOKEN_BYTES = 32;

interface AdminTokenOptions {
  /** The token from the settings. It wins over the file. */
  readonly configured: Secret | undefined;
  readonly dataDir: string;
}

/**
 * Returns the token that operators must present: the configured one, else the one in the data
 * folder, which is created if it is missing.
 */
export function loadAdminToken({ configured, dataDir }: AdminTokenOptions): Secret {
  if (configured !== undefined) return configured;
  const path = adminTokenPath(dataDir);
  if (!existsSync(path)) createTokenFile(path);
  const token = readFileSync(path, 'utf8').trim();
  if (token === '')
    throw new Error(`${path} is empty: remove it, and the next start makes a new one`);
  return new Secret(token);
}

/** The file with the token of a node whose settings have none. */
export function adminTokenPath(dataDir: string): string {
  return join(dataDir, DATA_FILES.adminToken);
}

/**
 * The file exists either with all of its content or not at all, and an existing file is never
 * replaced.
 */
function createTokenFile(path: string): void {
  const newPath = `${path}.${process.pid}.new`;
  writeFileSync(newPath, `${randomBytes(TOKEN_BYTES).toString('hex')}\n`, { mode: 0o600 });
  try {
    linkSync(newPath, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(newPath, { force: true });
  }
}
