import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackages {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly optional?: boolean }>
  >;
}

/**
 * Installs the packages of a folder with exactly the versions of its lock file, and again only if
 * the lock file has changed.
 */
export function installLocked(dir: string): void {
  const installed = join(dir, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && hasAllOf(dir, readPackages(installed))) return;
  console.error(`installs the packages of ${dir}`);
  // npm passes its own settings, including the folder, to the programs that it runs.
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    ...{ cwd: dir, env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

const readPackages = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as LockedPackages;

function hasAllOf(dir: string, installed: LockedPackages): boolean {
  const { packages } = readPackages(join(dir, 'package-lock.json'));
  return Object.entries(packages).every(
    ([path, { version, optional }]) =>
      path === '' || optional === true || installed.packages[path]?.version === version,
  );
}
