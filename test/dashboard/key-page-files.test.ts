import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/servers/start-gateway.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const BUILD = 'dist/src/key-page';
const DASHBOARD_BUILD = 'dist/src/dashboard';
const COMPRESSED_BYTES_MAX = 20 * 1024;
/** Includes the files of the dashboard. */
const ALL_COMPRESSED_BYTES_MAX = 150 * 1024;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The header that Chromium sends. */
const BROWSER =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const PROGRAMS = ['*/*', 'application/json', 'application/json, text/plain, */*', 'text/html;q=0'];

const gateway = useGateway({ config: FAST_CONFIG });

function listFiles(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

function countCompressedBytes(dir: string): number {
  return listFiles(dir).reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
}

const askRoot = (url: string, accept: string, method = 'GET') =>
  fetch(`${url}/`, { method, headers: { accept } });

/** Reads an answer without the parts that differ from answer to answer. */
async function readAnswer(response: Response) {
  const text = await response.text();
  const requestId = response.headers.get('request-id') ?? '';
  const headers = [...response.headers].filter(
    ([name]) => !/request-id$|^(date|content-length)$/.test(name),
  );
  const body = text.replaceAll(requestId, 'ID').replace(/"uptime_seconds":\d+/, '');
  return { status: response.status, headers, body };
}

describe('the page for key owners', () => {
  it('is small, and has nothing inline or from elsewhere', () => {
    const bytes = countCompressedBytes(BUILD);
    expect(bytes).toBeLessThanOrEqual(COMPRESSED_BYTES_MAX);
    expect(bytes + countCompressedBytes(DASHBOARD_BUILD)).toBeLessThanOrEqual(
      ALL_COMPRESSED_BYTES_MAX,
    );
    const html = readFileSync(`${BUILD}/index.html`, 'utf8');
    expect(html).not.toMatch(/<style|\sstyle=|<script[^>]*>[^<]|https?:|\son\w+=/);
  });

  it('comes with its files under a strict policy, with the right type and time to keep', async () => {
    for (const file of listFiles(BUILD)) {
      const isPage = file === `${BUILD}/index.html`;
      const url = gateway().url + (isPage ? '/' : file.slice(BUILD.length));
      const options = { headers: { accept: isPage ? BROWSER : '*/*' } };
      const response = await fetch(url, options);
      expect([response.status, await response.text()]).toEqual([200, readFileSync(file, 'utf8')]);
      const { headers } = response;
      expect(headers.get('content-security-policy')).toBe(POLICY);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('content-type')).toContain(TYPES[extname(file)]);
      expect(headers.get('cache-control')).toContain(isPage ? 'no-cache' : 'immutable');
      expect(headers.get('vary')).toBe(isPage ? 'accept' : null);
      const head = await fetch(url, { ...options, method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      for (const name of ['content-length', 'content-type', 'content-security-policy']) {
        expect(head.headers.get(name), `${name} of HEAD ${url}`).toBe(headers.get(name));
      }
    }
  });

  it('is all there is: other paths lead nowhere', async () => {
    for (const path of ['/index.html', '/assets/', '/assets/..%2findex.html', '/assets/a.js']) {
      const response = await fetch(gateway().url + path, { headers: { accept: BROWSER } });
      expect(response.status, path).toBe(404);
    }
    const posted = await askRoot(gateway().url, BROWSER, 'POST');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'HEAD, GET']);
  });

  it('is for browsers: programs get what they get where it is off, and so do all there', async () => {
    const without = await startGateway({ config: `key_page: false\n${FAST_CONFIG}` });
    for (const method of ['GET', 'HEAD']) {
      const wanted = await readAnswer(await askRoot(without.url, '*/*', method));
      expect(wanted.status).toBe(method === 'GET' ? 405 : 200);
      expect(wanted.headers).toContainEqual(['content-type', 'application/json']);
      for (const accept of PROGRAMS) {
        const answer = await readAnswer(await askRoot(gateway().url, accept, method));
        expect(answer, `${method} with ${accept}`).toEqual(wanted);
      }
      expect(await readAnswer(await askRoot(without.url, BROWSER, method))).toEqual(wanted);
    }
    const [asset = ''] = listFiles(`${BUILD}/assets`);
    expect((await fetch(without.url + asset.slice(BUILD.length))).status).toBe(404);
  });
});
