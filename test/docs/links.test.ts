import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONTENTS_FILE, listPageFiles } from '../support/read-docs.ts';

const README_LINES_MAX = 250;

const DOCUMENTS = [
  ...['README.md', 'src/README.md', 'deploy/README.md', 'bench/README.md', CONTENTS_FILE],
  ...listPageFiles(),
  ...readdirSync('.github')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `.github/${name}`),
];

const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, '');

/** As web pages of repositories make them from headings. */
function anchorsOf(file: string): string[] {
  const headings = withoutCode(readFileSync(file, 'utf8')).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The targets of links and pictures, those on the web left out. */
function linksOf(file: string): string[] {
  const links = withoutCode(readFileSync(file, 'utf8')).matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link));
}

describe('the documents', () => {
  it.each(DOCUMENTS)('have only links that lead somewhere: %s', (file) => {
    for (const link of linksOf(file)) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      expect(existsSync(target), link).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(target), link).toContain(anchor);
    }
  });

  it.each(DOCUMENTS)('have each heading once: %s', (file) => {
    const anchors = anchorsOf(file);
    expect(anchors).toEqual([...new Set(anchors)]);
  });

  it('begin with a title and a paragraph of text', () => {
    for (const file of [CONTENTS_FILE, ...listPageFiles()]) {
      expect(readFileSync(file, 'utf8'), file).toMatch(/^# .+\n\n[A-Z`*]/);
    }
  });

  it('are all on the contents page, once', () => {
    const listed = linksOf(CONTENTS_FILE).map((link) => relative('.', join('src/docs', link)));
    const pages = listed.filter((file) => file.startsWith('src/docs/'));
    expect(pages.toSorted()).toEqual(listPageFiles().toSorted());
  });

  it(`have a first page of at most ${README_LINES_MAX} lines`, () => {
    const lines = readFileSync('README.md', 'utf8').split('\n').length - 1;
    expect(lines).toBeLessThanOrEqual(README_LINES_MAX);
  });
});
