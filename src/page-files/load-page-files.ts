import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { assert } from '../lib/assert.ts';

export interface PageFile {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const FILES_MAX = 50;
const FILE_BYTES_MAX = 1024 * 1024;
const ASSETS = 'assets';
const HTML = '.html';
const INDEX = `index${HTML}`;

/** Every file that the build makes is text. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

export const PAGE_SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/**
 * Browsers ask for the page each time. It names the files of its own build, and their names
 * contain a hash of their content.
 */
const ALWAYS_ASK = 'no-cache';
const NEVER_ASK = 'public, max-age=31536000, immutable';

/**
 * Reads the files of a page, or of a site of pages, once, by their paths. A requested path
 * therefore never becomes the name of a file. Empty if the page has not been built.
 */
export function loadPageFiles(dir: string): ReadonlyMap<string, PageFile> {
  if (!existsSync(join(dir, INDEX))) return new Map();
  const pages = readdirSync(dir).filter((name) => name.endsWith(HTML));
  const assets = readdirSync(join(dir, ASSETS));
  assert(assets.length < FILES_MAX, `${dir} has more than ${FILES_MAX} files`);
  return new Map([
    ...pages.map((name): [string, PageFile] => [
      name === INDEX ? '/' : `/${basename(name, HTML)}`,
      readPageFile(join(dir, name), ALWAYS_ASK),
    ]),
    ...assets.map((name): [string, PageFile] => [
      `/${ASSETS}/${name}`,
      readPageFile(join(dir, ASSETS, name), NEVER_ASK),
    ]),
  ]);
}

function readPageFile(file: string, cacheControl: string): PageFile {
  const type = CONTENT_TYPES[extname(file)];
  assert(type !== undefined, `${file} is of no type that a page has`);
  const body = readFileSync(file, 'utf8');
  assert(body.length <= FILE_BYTES_MAX, `${file} is longer than ${FILE_BYTES_MAX} bytes`);
  return {
    body,
    headers: { ...PAGE_SECURITY_HEADERS, 'content-type': type, 'cache-control': cacheControl },
  };
}
