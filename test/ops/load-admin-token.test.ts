import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/lib/secret.ts';
import { loadAdminToken } from '../../src/ops/access/load-admin-token.ts';
import { createTempDir } from '../support/create-temp-dir.ts';

const load = (dataDir: string, configured?: string) =>
  loadAdminToken({
    configured: configured === undefined ? undefined : new Secret(configured),
    dataDir,
  }).reveal();

describe('the admin token', () => {
  it('is that of the settings, and then no file is made', () => {
    const dataDir = createTempDir();
    expect(load(dataDir, 'mine')).toBe('mine');
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('is made at the first start, of 32 random bytes, and stays', () => {
    const dataDir = createTempDir();
    const token = load(dataDir);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(load(dataDir)).toBe(token);
    expect(load(createTempDir())).not.toBe(token);
  });

  it('can be read by its owner alone, and nothing else is left in the folder', () => {
    const dataDir = createTempDir();
    const token = load(dataDir);
    expect(readdirSync(dataDir)).toEqual(['admin-token']);
    expect(readFileSync(join(dataDir, 'admin-token'), 'utf8')).toBe(`${token}\n`);
    expect(statSync(join(dataDir, 'admin-token')).mode & 0o777).toBe(0o600);
  });

  it('may be written by an operator, but not be empty', () => {
    const dataDir = createTempDir();
    writeFileSync(join(dataDir, 'admin-token'), ' chosen\n');
    expect(load(dataDir)).toBe('chosen');
    writeFileSync(join(dataDir, 'admin-token'), '\n');
    expect(() => load(dataDir)).toThrow('admin-token is empty: remove it');
  });
});
