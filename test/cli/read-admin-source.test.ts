import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { readAdminSource } from '../../src/config/source/read-admin-source.ts';
import { formatEndpoint } from '../../src/lib/address/parse-endpoint.ts';
import { createTempDir } from '../support/create-temp-dir.ts';

const read = (env: NodeJS.ProcessEnv, options: { url?: string; dataDir?: string } = {}) => {
  const source = readAdminSource({ url: options.url, dataDir: options.dataDir }, env);
  return { ...source, token: source.token?.reveal() };
};

describe('the place of the admin API', () => {
  it('is that of a node without settings', () => {
    const config = parseConfig({ path: undefined, text: '', env: {} });
    const source = read({ TOLLGATE_ADMIN_URL: '', TOLLGATE_DATA_DIR: '' });
    expect(source.url).toBe(`http://${formatEndpoint(config.ops.listen)}`);
    expect(dirname(source.tokenPath)).toBe(config.dataDir);
  });

  it('is that of the variables, and of the options before them', () => {
    const dataDir = createTempDir();
    writeFileSync(join(dataDir, 'admin-token'), 'of the file\n');
    const env = { TOLLGATE_ADMIN_URL: 'http://a:1/', TOLLGATE_DATA_DIR: dataDir };
    expect(read(env)).toMatchObject({ url: 'http://a:1', token: 'of the file' });
    expect(read({ ...env, TOLLGATE_ADMIN_TOKEN: 'mine' }).token).toBe('mine');
    const options = { url: 'http://b:2', dataDir: createTempDir() };
    expect(read(env, options)).toEqual({
      url: 'http://b:2',
      token: undefined,
      tokenPath: join(options.dataDir, 'admin-token'),
    });
  });
});
