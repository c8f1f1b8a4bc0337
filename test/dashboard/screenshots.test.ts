import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCS_DIR, readPage } from '../support/read-docs.ts';
import {
  DASHBOARD_SCREENSHOTS,
  KEY_PAGE_SCREENSHOT,
  SCREENSHOT_BYTES_MAX,
  SCREENSHOT_DIR,
  SCREENSHOTS_MAX,
} from './screenshots/screenshots.ts';

const PNG_SIGNATURE = '89504e470d0a1a0a';

describe('the pictures of the dashboard page', () => {
  const shown = [...readPage('dashboard').matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(
    ([, words = '', path = '']) => ({ words, path: join(DOCS_DIR, path) }),
  );

  it('exist, are small, and say in words what they show', () => {
    expect(shown.length).toBeGreaterThan(0);
    for (const { words, path } of shown) {
      const bytes = readFileSync(path);
      expect(bytes.subarray(0, 8).toString('hex'), path).toBe(PNG_SIGNATURE);
      expect(bytes.length, path).toBeLessThanOrEqual(SCREENSHOT_BYTES_MAX);
      expect(words, path).toMatch(/\w{3}/);
    }
  });

  it('are those that the script takes, and nothing else lies beside them', () => {
    const taken = [...DASHBOARD_SCREENSHOTS.map(({ name }) => name), KEY_PAGE_SCREENSHOT];
    const files = taken.map((name) => `${name}.png`).toSorted();
    expect(files.length).toBeLessThanOrEqual(SCREENSHOTS_MAX);
    expect(readdirSync(SCREENSHOT_DIR).toSorted()).toEqual(files);
    expect(shown.map(({ path }) => path).toSorted()).toEqual(
      files.map((file) => `${SCREENSHOT_DIR}/${file}`),
    );
  });

  it('are not in what is built and published', () => {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
    expect(files.some((each) => dirname(SCREENSHOT_DIR).startsWith(each))).toBe(false);
    const built = readdirSync('dist', { recursive: true, encoding: 'utf8' });
    expect(built.length).toBeGreaterThan(0);
    expect(built.filter((file) => file.endsWith('.png'))).toEqual([]);
  });
});
