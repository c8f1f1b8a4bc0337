import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackages {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly optional?: boolean }>
  >;
}

/** The packages of a folder with exactly the versions of its lock file; once, and again when that has changed. */
export function installLocked(dir: string): void {
  const installed = join(dir, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && hasAllOf(dir, readPackages(installed))) return;
  console.error(`installs the packages of ${dir}`);
  // npm hands its own settings down to programs that it runs, and with them the folder.
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
