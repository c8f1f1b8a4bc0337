import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Secret } from '../../lib/secret.ts';
import { DEFAULT_DATA_DIR } from '../default-settings.ts';

/** The key that a client of the gateway has. */
export interface ClientKey {
  /** Undefined when there is none to be found. */
  readonly key: Secret | undefined;
  /** Where a node with a Redis of its own keeps the one that it made. */
  readonly demoPath: string;
}

/** The option wins over the variable, the variable over the key of a node without settings; empty counts as absent. */
export function readClientKey(
  option: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): ClientKey {
  const dataDir = environment['TOLLGATE_DATA_DIR'] || DEFAULT_DATA_DIR;
  const demoPath = resolve(join(dataDir, 'demo-key'));
  const key = option || environment['TOLLGATE_KEY'] || readDemoKey(demoPath);
  return { key: key === undefined ? undefined : new Secret(key), demoPath };
}

function readDemoKey(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
