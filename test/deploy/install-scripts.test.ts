import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTempDir } from '../support/create-temp-dir.ts';

/** Installs a project with one dependency, whose install script leaves a file in the dependency. */
function installWithScript(settings: string | undefined): { readonly hasRun: boolean } {
  const dir = createTempDir();
  const dependency = join(dir, 'dependency');
  const project = join(dir, 'project');
  mkdirSync(dependency);
  mkdirSync(project);
  writeFileSync(
    join(dependency, 'package.json'),
    JSON.stringify({ name: 'a', version: '1.0.0', scripts: { postinstall: 'echo > has-run' } }),
  );
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], {
      cwd: project,
      encoding: 'utf8',
      // Not the variables of the test runner: npm passes its settings on through them.
      env: { PATH: process.env['PATH'], HOME: dir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'p', version: '1.0.0', scripts: { start: 'echo started' } }),
  );
  if (settings !== undefined) copyFileSync(settings, join(project, '.npmrc'));
  npm('pack', dependency, '--silent');
  npm('install', './a-1.0.0.tgz');
  const installed = join(project, 'node_modules/a');
  expect(existsSync(join(installed, 'package.json'))).toBe(true);
  expect(npm('start')).toContain('started');
  return { hasRun: existsSync(join(installed, 'has-run')) };
}

describe('the settings of npm', () => {
  it('let no dependency run a script when it is installed, and ours when they are asked for', () => {
    expect(installWithScript('.npmrc').hasRun).toBe(false);
    expect(installWithScript(undefined).hasRun).toBe(true);
  });

  it('hold for the image too', () => {
    expect(readFileSync('deploy/Dockerfile', 'utf8')).toMatch(/^COPY .*\.npmrc.*\nRUN npm ci$/m);
  });
});
