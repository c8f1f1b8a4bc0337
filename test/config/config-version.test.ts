import { expect, it } from 'vitest';
import { configVersion } from '../../src/config/config-version.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

function versionOf(text: string, count = 1, env: Readonly<Record<string, string>> = {}): string {
  return configVersion(parseConfig({ path: undefined, text, env }), count);
}

it('equal settings have equal versions, however they are written', () => {
  const version = versionOf('workers: 2\nlimits: {body_bytes: 1MiB}\n');
  expect(version).toMatch(/^[0-9a-f]{12}-1$/);
  expect(versionOf('limits:\n  body_bytes: 1048576\n# more\nworkers: 2\n')).toBe(version);
  expect(versionOf('limits: {body_bytes: 1MiB}\n', 1, { TOLLGATE_WORKERS: '2' })).toBe(version);
});

it('other settings have another hash; another count shows beside it', () => {
  const hashOf = (text: string) => versionOf(text).split('-')[0];
  expect(hashOf('workers: 2\n')).not.toBe(hashOf('workers: 3\n'));
  expect(versionOf('workers: 2\n', 7)).toBe(`${hashOf('workers: 2\n')}-7`);
});

it('a secret is not part of it', () => {
  const withToken = (token: string) => versionOf(`workers: 2\nops: {admin_token: ${token}}\n`);
  expect(withToken('one')).toBe(withToken('another'));
  expect(withToken('one')).not.toBe(versionOf('workers: 2\n'));
});
