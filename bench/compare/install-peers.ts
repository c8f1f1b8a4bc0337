import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** From the top of the repository, where every bench is started. */
export const PEERS_DIR = resolve('bench/peers');

/** With exactly the versions of their lock file; once, and again when that has changed. */
export function installPeers(): void {
  const installed = join(PEERS_DIR, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && hasAllOf(readPackages(installed))) return;
  console.error('bench: installs what it compares with');
  // npm hands its own settings down to programs that it runs, and with them the folder.
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const options = { cwd: PEERS_DIR, env, stdio: ['ignore', 'ignore', 'inherit'] as const };
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    ...options,
    stdio: [...options.stdio],
  });
}

interface LockedPackages {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly optional?: boolean }>
  >;
}

export function readPeerVersions(): Record<string, string> {
  const text = readFileSync(join(PEERS_DIR, 'package.json'), 'utf8');
  const { dependencies, optionalDependencies } = JSON.parse(text) as Record<
    'dependencies' | 'optionalDependencies',
    Record<string, string>
  >;
  return { ...dependencies, ...optionalDependencies };
}

const readPackages = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as LockedPackages;

function hasAllOf(installed: LockedPackages): boolean {
  const { packages } = readPackages(join(PEERS_DIR, 'package-lock.json'));
  return Object.entries(packages).every(
    ([path, { version, optional }]) =>
      path === '' || optional === true || installed.packages[path]?.version === version,
  );
}
