import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTempDir } from '../support/create-temp-dir.ts';
import { readSection, readText } from './read-deploy-files.ts';

/** The first version with a separate line for HTTP/2. */
const OWN_LINE_VERSION = [1, 25, 1];

function isOlder(version: readonly number[], other: readonly number[]): boolean {
  const at = version.findIndex((part, index) => part !== other[index]);
  return at !== -1 && (version[at] ?? 0) < (other[at] ?? 0);
}

it('the lines for TLS are those that nginx takes, by its version, without a warning', () => {
  const section = readSection('TLS');
  const dir = createTempDir();
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', key, '-out', certificate, '-days', '1', '-subj', '/CN=localhost'],
    ],
    { stdio: 'ignore' },
  );

  const block = /For nginx[\s\S]*?```\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
  expect(block).toContain('http2 on;');
  const oldLine = /`(listen 443 ssl http2;)`/.exec(section)?.[1] ?? '';
  const { stderr: told } = spawnSync('nginx', ['-v'], { encoding: 'utf8' });
  const version = (/nginx\/([\d.]+)/.exec(told)?.[1] ?? '').split('.').map(Number);
  expect(section).toContain(OWN_LINE_VERSION.join('.'));
  const lines = isOlder(version, OWN_LINE_VERSION)
    ? block.replace(/listen 443 ssl;\nhttp2 on;/, oldLine)
    : block;
  const placed = lines
    .replace(/(?<=ssl_certificate +)\S+;/, `${certificate};`)
    .replace(/(?<=ssl_certificate_key +)\S+;/, `${key};`);
  const site = readText('nginx/tollgate.conf').replace('  listen 8080', `${placed}\n  listen 8080`);
  const file = join(dir, 'nginx.conf');
  writeFileSync(file, `pid ${dir}/pid; events {}\nhttp { access_log off;\n${site}\n}\n`);
  const { status, stderr } = spawnSync('nginx', ['-t', '-q', '-c', file, '-e', 'stderr'], {
    encoding: 'utf8',
  });
  expect(stderr.split('\n').filter((line) => /\[(warn|emerg)\]/.test(line))).toEqual([]);
  expect(status).toBe(0);
});
