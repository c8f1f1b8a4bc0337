import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trackedFiles } from './architecture-rules.ts';

const PAGE = readFileSync('src/README.md', 'utf8');
const code = trackedFiles('src/**/*.ts', 'src/**/*.tsx', 'src/*.ts');

/** The cells of the tables under a heading, without their header rows. */
function tableOf(heading: string): string[][] {
  const section = PAGE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line, at, lines) => line.startsWith('|') && !lines[at + 1]?.startsWith('|---'))
    .filter((line) => !line.startsWith('|---'))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

const textOf = (file: string) => code.find((source) => source.file === file)?.text ?? '';
const filesWith = (pattern: RegExp) =>
  code.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

/** For each question, a pattern that the file with the answer must match. */
const ANSWERS: Readonly<Record<string, RegExp>> = {
  'Where is a key checked?': /parseApiKey\(.*[\s\S]*throw refuseKey/,
  'Where does a charge reach Redis?': /^#!lua[\s\S]*KEYS[\s\S]*ARGV/,
  'Where do entries enter the books?': /export async function enterRows\(/,
  'Where does a change by an operator reach Redis?': /export async function changeRecord/,
  'How does a worker learn that a key was revoked?': /export function listenForChanges\(/,
  'What runs in the primary, what in a worker?': /isWorker[\s\S]*runWorkerProcess[\s\S]*runPrimary/,
  'Which code is a fast twin of what?': /^#+ Fast twins$/m,
  'What do I touch to add a kind of upstream?': /UPSTREAM_KINDS = /,
  'What is a request id?': /req_[\s\S]*createRequestIdMint[\s\S]*minuteOfRequest/,
  'Why are there several connections to Redis?': /There are several connections because/,
  'Where are answers kept that clients refer to?': /function createReserve\(/,
  'Where do timers start?': /^## Timers$/m,
  'Where are the default prices?': /DEFAULT_MODELS = [\s\S]*price: \{ input: \d/,
  'Where is the test of a file?': /^## Tests$/m,
};

describe("the contributor's page", () => {
  it('answers its questions in the files that it names', () => {
    const rows = tableOf('Questions');
    expect(rows.map(([question]) => question)).toEqual(Object.keys(ANSWERS));
    for (const [question = '', file = '', hint = ''] of rows) {
      const text = readFileSync(file.replaceAll('`', ''), 'utf8');
      expect(text, question).toMatch(ANSWERS[question] ?? /^\b$/);
      for (const [, other = ''] of hint.matchAll(/`(src\/[\w./-]+)`/g)) {
        expect(readFileSync(other, 'utf8').length, other).toBeGreaterThan(0);
      }
    }
  });

  it('lists every room, and in its rows no file that does not exist', () => {
    const rooms = readdirSync('src')
      .filter((entry) => entry !== 'README.md')
      .map((entry) => `src/${entry}`);
    const rows = tableOf('Rooms').map((row) => row.map((cell) => cell.replaceAll('`', '')));
    expect(rows.map(([room]) => room).toSorted()).toEqual([...rooms, 'bench'].toSorted());
    for (const [room = '', what = ''] of rows) {
      for (const [file] of what.matchAll(/[\w/-]+\.ts\b/g)) {
        expect(textOf(join(room, file)) || textOf(room), `${room}: ${file}`).not.toBe('');
      }
    }
  });

  it('lists every folder of the tests that no room has the name of', () => {
    const section = PAGE.split('\n## Tests\n')[1]?.split('\n## ')[0] ?? '';
    const listed = new Set([...section.matchAll(/`(test\/[\w/-]+)`/g)].map(([, path]) => path));
    const foldersIn = (folder: string) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${folder}/${name}`);
    const isOfRoom = (folder: string) =>
      existsSync(folder.replace('test/', 'src/')) || folder === 'test/bench';
    const folders = [...foldersIn('test'), ...foldersIn('test/e2e')].filter(
      (folder) => folder !== 'test/e2e' && !isOfRoom(folder),
    );
    expect(folders.filter((folder) => !listed.has(folder))).toEqual([]);
    expect([...listed].filter((path) => !existsSync(path ?? ''))).toEqual([]);
  });

  it('lists every file that starts a timer', () => {
    const starts = filesWith(/\b(setTimeout|setInterval|setImmediate)\(|timers\/promises/);
    const listed = tableOf('Timers').flatMap(([room = '', files = '']) =>
      [...files.matchAll(/`([^`]+)`/g)].map(
        ([, file]) => `src/${room.replaceAll('`', '')}/${file}`,
      ),
    );
    const others = starts.filter((file) => dirname(file) !== 'src/timers');
    expect(listed.toSorted()).toEqual(others.toSorted());
  });

  it('names only files that exist where it tells how to add something', () => {
    for (const [what, files = ''] of tableOf('How to add')) {
      for (const [, file = ''] of files.matchAll(/`([\w/-]+\.ts)`/g)) {
        if (/\bx(-command)?\.ts$/.test(file)) continue;
        expect(textOf(`src/${file}`), `${what}: ${file}`).not.toBe('');
      }
    }
  });
});

describe('the house', () => {
  it('spells the kinds of upstreams in one union only', () => {
    const union = /(['"])native\1\s*[|,]\s*(['"])chat\2|(['"])chat\3\s*[|,]\s*(['"])native\4/;
    expect(filesWith(union)).toEqual(['src/protocol/format-names.ts']);
  });

  it('has its unit tests where the code that they are about stands', () => {
    const tests = trackedFiles('test/unit/**/*.test.ts').map(({ file }) => file);
    const folders = new Set(code.map(({ file }) => dirname(file)));
    const lost = tests.filter((file) => {
      const folder = dirname(file).replace('test/unit', 'src');
      const name = basename(file, '.test.ts');
      const isBelow = code.some(
        (source) =>
          dirname(source.file).startsWith(`${folder}/`) &&
          basename(source.file).replace(/\.tsx?$/, '') === name,
      );
      const isBeside = code.some(({ file: source }) =>
        [`${folder}/${name}.ts`, `${folder}/${name}.tsx`].includes(source),
      );
      return folder !== 'src/bench' && (!folders.has(folder) || (isBelow && !isBeside));
    });
    expect(lost).toEqual([]);
  });

  it('keeps comments within the width that the editor settings name', () => {
    const width = Number(
      /max_line_length = (\d+)/.exec(readFileSync('.editorconfig', 'utf8'))?.[1],
    );
    expect(width).toBeGreaterThan(0);
    const wide = trackedFiles('src/**/*.ts', 'src/**/*.tsx', 'src/**/*.lua').flatMap(
      ({ file, text }) =>
        text
          .split('\n')
          .filter((line) => /^\s*(\*|\/\/|\/\*\*|--)/.test(line) && line.length > width)
          .map((line) => `${file}: ${line.trim()}`),
    );
    expect(wide).toEqual([]);
  });
});
