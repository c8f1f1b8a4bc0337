import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installLocked } from '../support/install-locked.ts';

/** Relative to the top of the repository, where every bench starts. */
export const PEERS_DIR = resolve('bench/peers');

export function installPeers(): void {
  installLocked(PEERS_DIR);
}

export function readPeerVersions(): Record<string, string> {
  const text = readFileSync(join(PEERS_DIR, 'package.json'), 'utf8');
  const { dependencies, optionalDependencies } = JSON.parse(text) as Record<
    'dependencies' | 'optionalDependencies',
    Record<string, string>
  >;
  return { ...dependencies, ...optionalDependencies };
}
