import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { ENVIRONMENT_OVERRIDES } from '../../src/config/source/environment-overrides.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { PROGRAM, parseSeconds, readText } from './read-deploy-files.ts';

const UNIT = 'systemd/tollgate.service';

const defaults = parseConfig({ path: undefined, text: '', env: {} });
const KNOWN_VARIABLES = ENVIRONMENT_OVERRIDES.map(({ variable }) => variable);
const COMMANDS = /^(start|check|doctor)$/;

describe('the systemd unit', () => {
  const text = readText(UNIT);
  const linesOf = (key: string) =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  it('has the primary drain its workers, and gives it the time', () => {
    expect(linesOf('KillMode')).toEqual(['mixed']);
    expect(linesOf('KillSignal')).toEqual(['SIGTERM']);
    expect(parseSeconds(linesOf('TimeoutStopSec')[0] ?? '')).toBeGreaterThan(
      defaults.drain.timeoutMs / 1_000,
    );
  });

  it('runs commands of the program, with one settings file', () => {
    const program = [...linesOf('ExecStart'), ...linesOf('ExecReload')].filter((line) =>
      line.startsWith('/usr/bin/node'),
    );
    expect(program).toHaveLength(2);
    for (const line of program) {
      const [, path, command = '', option, file] = line.split(' ');
      expect(path).toBe(`/opt/tollgate/${PROGRAM.path}`);
      expect(command).toMatch(COMMANDS);
      expect([option, file]).toEqual(['--config', '/etc/tollgate/tollgate.yaml']);
    }
    // A reload checks the configuration first: systemd stops at the first command that fails.
    expect(linesOf('ExecReload')[0]).toContain(' check ');
    expect(linesOf('ExecReload')[1]).toBe('/bin/kill -HUP $MAINPID');
  });

  const settings = { path: 'tollgate.yaml', text: readText('systemd/tollgate.yaml'), env: {} };

  it('has settings that a node takes, for one behind the balancer that is shipped', () => {
    const config = parseConfig(settings);
    expect(config.guards.trustedProxies).toBe(1);
    expect(config.drain.timeoutMs / 1_000).toBeLessThan(
      parseSeconds(linesOf('TimeoutStopSec')[0] ?? ''),
    );
  });

  it('has settings for a fleet in its comments', () => {
    const text = settings.text.replaceAll(/^# (?=(?:ops|redis|books): )/gm, '');
    const env = { REDIS_PASSWORD: 'redis', BOOKS_PASSWORD: 'books' };
    expect(parseConfig({ ...settings, text, env })).toMatchObject({
      redis: { topology: 'sentinel' },
      books: { place: { kind: 'postgres' } },
      ops: { listen: { host: '0.0.0.0', port: 9400 } },
    });
  });

  it('lets it write into its data folder alone', () => {
    const [variable = ''] = linesOf('Environment');
    const [name, folder] = variable.split('=');
    expect(KNOWN_VARIABLES).toContain(name);
    expect(folder).toBe(`/var/lib/${linesOf('StateDirectory')[0]}`);
    // Commands outside of the unit know only the settings.
    expect(parseConfig(settings).dataDir).toBe(folder);
    expect(linesOf('ProtectSystem')).toEqual(['strict']);
    expect(linesOf('ReadWritePaths')).toEqual([]);
    expect(linesOf('CapabilityBoundingSet')).toEqual(['']);
    expect(linesOf('DynamicUser')).toEqual(['yes']);
    // With this setting the engine would not start.
    expect(linesOf('MemoryDenyWriteExecute')).toEqual([]);
  });

  it('is one that systemd understands', ({ skip }) => {
    const { status: isMissing } = spawnSync('systemd-analyze', ['--version']);
    skip(isMissing !== 0, 'systemd-analyze is not installed on this machine');
    const path = join(createTempDir(), basename(UNIT));
    // systemd-analyze requires that the program exists.
    writeFileSync(path, text.replaceAll('/usr/bin/node', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes(basename(UNIT)))).toEqual([]);
    expect(status, stderr).toBe(0);
  });
});
