import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { assert } from '../lib/assert.ts';
import type { OpsAnswer } from './ops-answer.ts';

const FILES_MAX = 50;
const FILE_BYTES_MAX = 1024 * 1024;
const ASSETS = 'assets';

/** All that the build makes is text. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const SECURITY_HEADERS = {
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
};

/** The page asks for the files of its own build, whose names have the hash of what is in them. */
const ALWAYS_ASK = 'no-cache';
const NEVER_ASK = 'public, max-age=31536000, immutable';

/** The dashboard's files by their paths, read once: what is asked for never becomes the name of a file. */
export function loadDashboard(dir: string): ReadonlyMap<string, OpsAnswer> {
  const page = join(dir, 'index.html');
  if (!existsSync(page)) return new Map([['/', MISSING]]);
  const assets = readdirSync(join(dir, ASSETS));
  assert(assets.length < FILES_MAX, `the dashboard has more than ${FILES_MAX} files`);
  return new Map([
    ['/', readAnswer(page, ALWAYS_ASK)],
    ...assets.map((name): [string, OpsAnswer] => [
      `/${ASSETS}/${name}`,
      readAnswer(join(dir, ASSETS, name), NEVER_ASK),
    ]),
  ]);
}

const MISSING: OpsAnswer = {
  status: 404,
  body: 'The dashboard has not been built: run "npm run build" and start again.\n',
  headers: { ...SECURITY_HEADERS, 'content-type': 'text/plain; charset=utf-8' },
};

function readAnswer(file: string, cacheControl: string): OpsAnswer {
  const type = CONTENT_TYPES[extname(file)];
  assert(type !== undefined, `${file} is of no type that the dashboard has`);
  const body = readFileSync(file, 'utf8');
  assert(body.length <= FILE_BYTES_MAX, `${file} is longer than ${FILE_BYTES_MAX} bytes`);
  return {
    status: 200,
    body,
    headers: { ...SECURITY_HEADERS, 'content-type': type, 'cache-control': cacheControl },
  };
}
