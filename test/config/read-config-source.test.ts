import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { readConfigSource } from '../../src/config/source/read-config-source.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('readConfigSource', () => {
  it('is empty when neither a file nor a variable is given', () => {
    const nothing = { path: undefined, text: '', env: {} };
    expect(readConfigSource(undefined, {})).toEqual(nothing);
    expect(readConfigSource(undefined, { TOLLGATE_CONFIG: '' })).toEqual(nothing);
  });

  it('prefers the given path to TOLLGATE_CONFIG', () => {
    const given = fileOf('given.yaml', 'workers: 1\n');
    const named = fileOf('named.yaml', 'workers: 2\n');
    expect(readConfigSource(given, { TOLLGATE_CONFIG: named }).text).toBe('workers: 1\n');
    expect(readConfigSource(undefined, { TOLLGATE_CONFIG: named })).toEqual({
      path: named,
      text: 'workers: 2\n',
      env: {},
    });
  });

  it('takes the overrides and the variables that the file names, and no others', () => {
    const path = fileOf(
      'variables.yaml',
      `ops: {admin_token: \${TOKEN}}\nworkers: \${N}\${EMPTY}\n`,
    );
    const environment = { TOKEN: 'a', EMPTY: '', TOLLGATE_WORKERS: '2', HOME: '/root', OTHER: 'x' };
    expect(readConfigSource(path, environment).env).toEqual({
      TOKEN: 'a',
      EMPTY: '',
      TOLLGATE_WORKERS: '2',
    });
  });

  it.each([
    ['there is no such file', () => join(folder, 'missing.yaml')],
    ['it is a folder', () => folder],
    ['is not UTF-8 text', () => fileOf('latin.yaml', Buffer.from([0x61, 0xff]))],
    ['is longer than 1048576 bytes', () => fileOf('long.yaml', '#'.repeat(1024 ** 2 + 1))],
  ])('says of a file that cannot be used: %s', (reason, pathOf) => {
    const path = pathOf();
    expect(() => readConfigSource(path, {})).toThrow(ConfigError);
    expect(() => readConfigSource(path, {})).toThrow(`${path}: `);
    expect(() => readConfigSource(path, {})).toThrow(reason);
  });
});
