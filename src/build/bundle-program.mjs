// @ts-check
/**
 * Bundles what a node runs, with the packages that it loads. Each process of a node then reads some
 * twenty files instead of some four hundred, and starts in three quarters of the CPU time.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'vite';

const DIST = 'dist';
/** All files of a bundle are in this one folder of `dist`. */
const FOLDER = 'program';

/** What starts as a process or thread of its own. That of the tests is missing in an image's build. */
const ENTRIES = [
  'src/main.js',
  'src/bookkeeping/run-ingest-thread.js',
  'src/bookkeeping/run-answer-thread.js',
  'test/support/probe-main.js',
];

/** They have native code or only some nodes load them; they load from `node_modules`. */
const NOT_BUNDLED = [
  '@duckdb/node-api',
  'aws4fetch',
  'libsql',
  'msgpackr-extract',
  'openid-client',
  'pg',
  'uWebSockets.js',
  'uws-modern',
];

/** One half of a pair at a time: each has an escape of its own. */
const BEYOND_ASCII = /[^\0-\x7f]/g;

/** Puts the bundled program where the compiled one was. */
export async function bundleProgram() {
  const entries = ENTRIES.filter((entry) => existsSync(join(DIST, entry)));
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [keepPlaces(), writeInAscii()],
    build: {
      ssr: true,
      outDir: join(DIST, FOLDER),
      target: 'es2023',
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((entry) => [nameOf(entry), join(DIST, entry)])),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          comments: { legal: true, annotation: false, jsdoc: false },
        },
      },
    },
    ssr: { noExternal: true, external: NOT_BUNDLED },
  });
  for (const entry of entries) replaceEntry(entry);
}

/**
 * The code finds Lua scripts, pages and threads by their places beside its own file, which stay
 * where the compiler put them.
 */
function keepPlaces() {
  const root = join(process.cwd(), DIST);
  return {
    name: 'keep-places',
    /** @type {'pre'} */
    enforce: 'pre',
    /**
     * @param {string} code
     * @param {string} id
     */
    transform(code, id) {
      if (!id.startsWith(`${root}/`) || !code.includes('import.meta.url')) return;
      const place = JSON.stringify(`../${relative(root, id)}`);
      return {
        code: code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url)`),
        map: null,
      };
    },
  };
}

/**
 * Each isolate keeps the text of what it runs, with two bytes for each character of a file that has
 * one beyond Latin-1. Such characters stand in texts and expressions alone, where an escape means
 * the same.
 */
function writeInAscii() {
  return {
    name: 'write-in-ascii',
    /**
     * @param {unknown} _
     * @param {import('vite').Rolldown.OutputBundle} bundle
     */
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'chunk') file.code = file.code.replace(BEYOND_ASCII, escapeChar);
      }
    },
  };
}

/** @param {string} char */
function escapeChar(char) {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** @param {string} entry */
function nameOf(entry) {
  return entry.slice(entry.lastIndexOf('/') + 1, -'.js'.length);
}

/** @param {string} entry */
function replaceEntry(entry) {
  const up = '../'.repeat(entry.split('/').length - 1);
  const text = `#!/usr/bin/env node\nimport '${up}${FOLDER}/${nameOf(entry)}.js';\n`;
  writeFileSync(join(DIST, entry), text);
}
