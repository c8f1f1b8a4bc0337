import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { describe, expect, it } from 'vitest';

const MARK = 'FAST TWIN';
/** The first lines of a fast twin. */
const HEAD =
  /^\/\*\*\n \* FAST TWIN of `(?<plain>[^`]+)`\.\n \* Held equal by `(?<test>[^`]+)`\.\n \* Gain: (?<gain>.+), (?<machine>[^,]+), Node (?<node>[\d.]+) \(`bench\/NOTES\.md`, "Fast twins"\)\.\n \*\/\n\n/;
const TITLE = '## Fast twins\n';

const PACKAGE = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

interface Twin {
  readonly file: string;
  readonly plain: string;
  readonly test: string;
  readonly gain: string;
  readonly machine: string;
  readonly node: string;
}

const byFile = (a: { file: string }, b: { file: string }) => (a.file < b.file ? -1 : 1);

function readHeads(): Twin[] {
  const listed = execFileSync('git', ['grep', '-l', '--untracked', '-F', MARK, '--', 'src'], {
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((file) => file !== '');
  return files
    .map((file) => {
      const found = HEAD.exec(readFileSync(file, 'utf8'))?.groups ?? {};
      const { plain = '', test = '', gain = '', machine = '', node = '' } = found;
      return { file, plain, test, gain, machine, node };
    })
    .toSorted(byFile);
}

function readTable(): (Twin & { readonly command: string })[] {
  const [, after = ''] = readFileSync('bench/NOTES.md', 'utf8').split(TITLE);
  const [section = ''] = after.split('\n## ');
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.replaceAll('`', '').trim());
      const [, file = '', plain = '', test = '', , gain = '', machine = '', node = ''] = cells;
      return { file, plain, test, gain, machine, node, command: cells[8] ?? '' };
    })
    .toSorted(byFile);
}

/** Whether this is a file, a package of the project, or a part of Node.js. */
function exists(plain: string): boolean {
  if (plain.includes('/')) return existsSync(plain);
  const { dependencies, devDependencies } = PACKAGE;
  return (
    plain in dependencies || plain in devDependencies || plain in globalThis || isBuiltin(plain)
  );
}

const heads = readHeads();

describe('code that is there for speed alone', () => {
  it('says in its first lines what the plain way is, what holds both equal, and what it gains', () => {
    expect(heads.length).toBeGreaterThan(0);
    for (const { file, plain, test } of heads) {
      expect(exists(plain), `${file}: there is no ${plain || 'mark in the right form'}`).toBe(true);
      expect(existsSync(test), `${file}: there is no ${test}`).toBe(true);
    }
  });

  it('is listed with its gain in the notes, and nothing else is', () => {
    expect(readTable().map(({ command: _, ...twin }) => twin)).toEqual(heads);
  });

  it('can be measured again, each by the command in its row', () => {
    const measured = readdirSync('bench/twins').flatMap((name) => {
      const text = readFileSync(`bench/twins/${name}`, 'utf8');
      return [...text.matchAll(/file: '(src\/[^']+)'/g)].map(([, file = '']) => file);
    });
    expect(measured.toSorted()).toEqual(heads.map(({ file }) => file));
    expect(existsSync('bench/scenarios/fast-twins.ts')).toBe(true);
    for (const { file, command } of readTable()) {
      const part = /^npm run bench -- fast-twins (\S+)$/.exec(command)?.[1] ?? '?';
      expect(file).toContain(part);
    }
  });
});
