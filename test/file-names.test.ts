import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The rules of names, for every file of src:
 *
 * - A file is named after the main thing it exports. A file that exports a type and its factory is
 *   named after the type: `breaker.ts` has `Breaker` and `createBreaker`. A file is called
 *   `create-x.ts` if it exports `createX` and no `X`: the type of its product is defined elsewhere,
 *   or the product is composed of other things.
 * - An exported name means one thing. A type of the dashboard may have the name of the server's
 *   type that it mirrors.
 * - Two exported names differ in more than one letter, unless one is the plural of the other in the
 *   same file.
 * - What no other file names is not exported, unless the file is named for it.
 * - A type is named by a noun. A participle may precede the noun to say how a thing was made
 *   (`PackedDetails`).
 */

/** Parallel files of the formats, which share their names on purpose. */
const FORMATS = /^src\/protocol\/(?:chat|embeddings|native|responses)\//;

/** Names that are exported twice, and why. */
const TWICE: Readonly<Record<string, string>> = {
  Account: 'the dashboard mirrors it',
  AccountList: 'the dashboard mirrors it',
  WrittenLimit: 'the dashboard mirrors it',
  Group: 'the dashboard mirrors it',
  GroupControls: 'the dashboard mirrors it',
  Key: 'the dashboard mirrors it',
  KeyControls: 'the dashboard mirrors it',
  KeyInfo: 'the page of key owners mirrors it',
  KeyRotation: 'the dashboard mirrors it',
  ListedRequest: 'the dashboard mirrors it',
  Model: 'the dashboard mirrors it',
  NewKey: 'the dashboard mirrors it',
  PaymentResult: 'the dashboard mirrors it',
  RefusalsReport: 'the dashboard mirrors it',
  SharedLimits: 'the dashboard mirrors it',
  Statement: 'the dashboard mirrors it',
  UsageReport: 'the dashboard mirrors it',
  UsageRow: 'the dashboard mirrors it',
  VersionNote: 'the dashboard mirrors it',
};

/** Pairs of names that differ in one letter, and why. */
const ONE_LETTER: Readonly<Record<string, string>> = {
  'Trace Tracer': 'what one makes and who makes it',
};

/**
 * Nouns that end like participles. `Deferred` is the term for a promise that is settled from
 * outside.
 */
const NOUNS =
  /^(?:Accounting|Billing|Closing|Deferred|Drawing|Ending|Feed|Finding|Framing|Need|Recording|Spelling)$/;

/**
 * Alone or as the last word of a name, participles say what happened to a thing, but not what it
 * is.
 */
const PARTICIPLES = /(?:ed|ing)$|^(?:Begun|Drawn|Held|Kept|Known|Said|Seen|Shown|Told|Written)$/;

/** Participles that only say that somebody dealt with a thing. */
const EMPTY_PARTICIPLES = /^(?:Asked|Held|Kept|Said|Served|Told|Tried)$/;

interface Exported {
  readonly name: string;
  readonly kind: string;
  readonly file: string;
}

const DECLARATION =
  /^(export )?(?:declare )?(?:async )?(function\*?|const|let|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;
const TYPES = new Set(['class', 'interface', 'type', 'enum']);

const declared = filesUnder('src').flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(DECLARATION)].map(
    ([, exported, kind = '', name = '']) => ({
      isExported: exported !== undefined,
      name,
      kind,
      file,
    }),
  ),
);
const exported: readonly Exported[] = declared.filter(({ isExported }) => isExported);
const files = [...new Set(exported.map(({ file }) => file))];
const inFile = (file: string) => exported.filter((one) => one.file === file);

describe('names', () => {
  it('of files that begin with create- are those of factories of what is typed elsewhere', () => {
    const wrong = files.filter((file) => {
      const made = /^create-(.+)$/.exec(stemOf(file))?.[1];
      if (made === undefined) return false;
      const names = inFile(file);
      const hasFactory = names.some(
        ({ name }) => name.startsWith('create') && flat(name).endsWith(flat(made)),
      );
      return !hasFactory || names.some((one) => isType(one) && flat(one.name) === flat(made));
    });
    expect(wrong).toEqual([]);
  });

  it('of files with a type and its factory are those of the type', () => {
    const wrong = files.flatMap((file) => {
      const pairs = inFile(file).filter(
        (one) => isType(one) && inFile(file).some(({ name }) => name === `create${one.name}`),
      );
      const isNamed =
        pairs.length === 0 || pairs.some(({ name }) => flat(name) === flat(stemOf(file)));
      return isNamed ? [] : [`${file} has ${pairs.map(({ name }) => name).join(', ')}`];
    });
    expect(wrong).toEqual([]);
  });

  it('that are exported mean one thing', () => {
    const byName = groupByName();
    // A function that takes its arguments in two ways is exported more than once from one file.
    const filesOf = (all: readonly { readonly file: string }[]) =>
      new Set(all.map(({ file }) => file)).size;
    const twice = [...byName].filter(
      ([, all]) => filesOf(all) > 1 && !all.every(({ file }) => FORMATS.test(file)),
    );
    expect(twice.map(([name]) => name).sort()).toEqual(Object.keys(TWICE).sort());
  });

  it('that are exported differ in more than one letter', () => {
    const names = [...groupByName()];
    const near = names.flatMap(([one, ones], i) =>
      names.slice(i + 1).flatMap(([other, others]) => {
        const inOneFile = ones.some(({ file }) => others.some((next) => next.file === file));
        const isPlural = inOneFile && arePlurals(one, other);
        return !isPlural && differInOneLetter(one, other) ? [[one, other].sort().join(' ')] : [];
      }),
    );
    expect(near.sort()).toEqual(Object.keys(ONE_LETTER).sort());
  });

  it('that are exported are named by another file, or are what their file is named for', () => {
    const users = new Map<string, Set<string>>();
    for (const file of ['src', 'test', 'bench'].flatMap(filesUnder)) {
      for (const [word] of readFileSync(file, 'utf8').matchAll(/[A-Za-z_$][\w$]*/g)) {
        users.set(word, (users.get(word) ?? new Set()).add(file));
      }
    }
    const unused = exported.filter(
      ({ name, file }) => users.get(name)?.size === 1 && flat(name) !== flat(stemOf(file)),
    );
    expect(unused.map(({ file, name }) => `${name} in ${file}`)).toEqual([]);
  });

  it('of types are nouns', () => {
    const wrong = declared.filter((one) => {
      const words = one.name.match(/[A-Z][a-z0-9]*/g) ?? [];
      const [first = '', last = ''] = [words[0], words.at(-1)];
      const isNoun = NOUNS.test(last) || !PARTICIPLES.test(last);
      return isType(one) && (!isNoun || EMPTY_PARTICIPLES.test(first));
    });
    const names = wrong;
    expect(names.map(({ file, name }) => `${name} in ${file}`)).toEqual([]);
  });
});

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.d\.ts$|\bnode_modules\b/.test(path))
    .map((path) => join(folder, path))
    .sort();
}

function groupByName(): ReadonlyMap<string, readonly Exported[]> {
  const groups = new Map<string, Exported[]>();
  for (const one of exported) groups.set(one.name, [...(groups.get(one.name) ?? []), one]);
  return groups;
}

function stemOf(file: string): string {
  return basename(file).replace(/\.tsx?$/, '');
}

/** Makes `create-openapi-document` and `createOpenApiDocument` equal. */
function flat(name: string): string {
  return name.replaceAll('-', '').toLowerCase();
}

function isType({ kind }: { readonly kind: string }): boolean {
  return TYPES.has(kind);
}

/** `KeyList` and `keyList` do not count: they are a type and a value of it. */
function differInOneLetter(one: string, other: string): boolean {
  if (one.slice(1) === other.slice(1) && one.toLowerCase() === other.toLowerCase()) return false;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1) return false;
  let same = 0;
  while (same < short.length && short[same] === long[same]) same++;
  const rest = long.slice(same + 1);
  return rest === short.slice(long.length === short.length ? same + 1 : same);
}

function arePlurals(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return [...long].some(
    (letter, i) => letter === 's' && long.slice(0, i) + long.slice(i + 1) === short,
  );
}
