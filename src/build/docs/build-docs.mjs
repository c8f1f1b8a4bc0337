// @ts-check
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { layOutPage } from './lay-out-page.mjs';
import { CONTENTS_FILE, readContents } from './read-contents.mjs';
import { renderPage } from './render-page.mjs';

/** Where the listener of operators serves them. */
const BASE = '/docs';

/** @param {string} file */
const read = (file) => readFileSync(file, 'utf8');
/** @param {string} name */
const readBeside = (name) => read(join(import.meta.dirname, name));

/**
 * Renders every page that the contents page lists.
 * @param {string} outDir
 */
export function buildDocs(outDir) {
  const groups = readContents();
  const listed = groups.flatMap(({ pages }) => pages);
  const contents = { file: CONTENTS_FILE, name: '', title: 'Documentation' };
  const pages = [contents, ...listed];
  mkdirSync(join(outDir, 'assets'), { recursive: true });

  /** @type {(name: string, text: string) => string} */
  const writeAsset = (name, text) => {
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
    const extension = extname(name);
    const file = `assets/${basename(name, extension)}-${hash}${extension}`;
    writeFileSync(join(outDir, file), text);
    return `${BASE}/${file}`;
  };
  /** @type {(file: string) => string | undefined} */
  const findUrl = (file) => {
    const page = pages.find((each) => each.file === file);
    if (page !== undefined) return page.name === '' ? BASE : `${BASE}/${page.name}`;
    // Other pictures are of the dashboard, which is where the reader is.
    return extname(file) === '.svg' ? writeAsset(file, read(file)) : undefined;
  };

  const rendered = pages.map((page) => ({
    ...page,
    url: findUrl(page.file) ?? BASE,
    ...renderPage(read(page.file), {
      findUrl: (path) => findUrl(join(dirname(page.file), path)),
    }),
  }));
  const index = rendered.flatMap(({ title, url, sections }) =>
    sections.map(({ heading, anchor, text }) => ({
      ...{ title, heading, text },
      url: anchor === '' ? url : `${url}#${anchor}`,
    })),
  );
  const assets = {
    style: writeAsset('docs.css', read('src/dashboard/styles/base.css') + readBeside('docs.css')),
    script: writeAsset('search.js', readBeside('search.js')),
    icon: writeAsset('favicon.svg', read('src/dashboard/favicon.svg')),
    index: writeAsset('search-index.json', JSON.stringify(index)),
  };
  for (const page of rendered) {
    const html = layOutPage(page, { groups, assets, base: BASE });
    writeFileSync(join(outDir, `${page.name === '' ? 'index' : page.name}.html`), html);
  }
}
