// @ts-check
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { marked } from 'marked';

export const CONTENTS_FILE = 'src/docs/README.md';

/** Pages that are called README where they are. */
const NAMES = new Map([
  ['README.md', 'about'],
  ['deploy/README.md', 'running'],
  ['bench/README.md', 'benchmarks'],
]);

/**
 * @typedef {{ file: string, name: string, title: string }} Page
 * @typedef {{ title: string, pages: Page[] }} Group
 */

/**
 * The tables of the contents page: each is a group, and each row begins with the link to a page.
 * @returns {Group[]}
 */
export function readContents() {
  const tokens = marked.lexer(readFileSync(CONTENTS_FILE, 'utf8'));
  return tokens.flatMap((token) => {
    if (token.type !== 'table') return [];
    const { header, rows } = /** @type {import('marked').Tokens.Table} */ (token);
    return [{ title: header[0]?.text ?? '', pages: rows.map(([cell]) => readPage(cell)) }];
  });
}

/**
 * @param {import('marked').Tokens.TableCell | undefined} cell
 * @returns {Page}
 */
function readPage(cell) {
  const [link] = cell?.tokens ?? [];
  if (link?.type !== 'link') throw new Error(`${CONTENTS_FILE}: a row begins with no link`);
  const file = join(dirname(CONTENTS_FILE), link.href);
  return { file, name: NAMES.get(file) ?? basename(file, '.md'), title: link.text };
}
