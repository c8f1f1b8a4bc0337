import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maskSettings } from '../../src/config/mask-settings.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { problemsOf } from './problems-of.ts';

const booksOf = (settings: string) =>
  parseConfig({ path: 't.yaml', text: `books: {${settings}}`, env: {} }).books;

const PLACE = 'endpoint: "https://s3.example.com", bucket: our-books';
const KEYS = 'access_key: ours, secret_key: secret';

describe('the settings of the books', () => {
  it('keep 90 days in a file by default', () => {
    expect(booksOf('')).toEqual({
      place: { kind: 'file' },
      connectionsMax: 8,
      keepMs: 7_776_000_000,
      archive: undefined,
      waitingEntriesMax: 5_000_000,
    });
  });

  it('name a server, which the environment can name instead', () => {
    const text = 'books: {url: "postgres://me:top@h/b"}';
    const urlOf = (env: Record<string, string>) => {
      const { place } = parseConfig({ path: undefined, text, env }).books;
      return place.kind === 'postgres' ? place.url.reveal() : undefined;
    };
    expect(urlOf({})).toBe('postgres://me:top@h/b');
    expect(urlOf({ TOLLGATE_BOOKS_URL: 'postgres://other/c' })).toBe('postgres://other/c');
  });

  it('name a folder as the archive, relative to the current one', () => {
    expect(booksOf('archive: {folder: ./old}').archive).toEqual({
      kind: 'folder',
      folder: resolve('old'),
    });
  });

  it('name a bucket as the archive', () => {
    const { archive } = booksOf(`archive: {s3: {${PLACE}, region: eu, prefix: a/b, ${KEYS}}}`);
    expect(archive).toMatchObject({
      kind: 's3',
      endpoint: 'https://s3.example.com',
      region: 'eu',
      bucket: 'our-books',
      prefix: 'a/b',
    });
    if (archive?.kind !== 's3') throw new Error('the archive is not a bucket');
    expect([archive.accessKey.reveal(), archive.secretKey.reveal()]).toEqual(['ours', 'secret']);
    expect(booksOf(`archive: {s3: {${PLACE}, ${KEYS}}}`).archive).toMatchObject({
      region: 'us-east-1',
      prefix: '',
    });
  });

  it('show no secret', () => {
    const text = `books: {url: "postgres://me:top@h/b", archive: {s3: {${PLACE}, ${KEYS}}}}`;
    expect(maskSettings(parseConfig({ path: undefined, text, env: {} })).books).toEqual({
      url: 'postgres://me:*****@h/b',
      connections: 8,
      keep: '90d',
      archive: {
        s3: {
          endpoint: 'https://s3.example.com',
          region: 'us-east-1',
          bucket: 'our-books',
          prefix: '',
          access_key: '*****',
          secret_key: '*****',
        },
      },
      waiting_entries_max: 5_000_000,
    });
  });

  it.each([
    ['connections: 0', 'connections: must be a whole number from 1 to 100'],
    ['connections: 101', 'connections: must be a whole number from 1 to 100'],
    ['keep: 47h', 'keep: must be a duration from 2d to 36500d'],
    ['keep: 90', 'keep: must be a duration such as 500ms'],
    ['waiting_entries_max: 0', 'waiting_entries_max: must be a whole number from 1 to 1000000000'],
    ['archive: {}', 'archive: must have either folder or s3'],
    [`archive: {folder: /a, s3: {${PLACE}, ${KEYS}}}`, 'archive: must have either folder or s3'],
    ['archive: {folder: ""}', 'archive.folder: must be a path'],
    [`archive: {s3: {${PLACE}, access_key: a}}`, 'archive.s3.secret_key: is missing'],
    [
      `archive: {s3: {endpoint: "s3.example.com", bucket: abc, ${KEYS}}}`,
      'archive.s3.endpoint: must be the address of an S3 service',
    ],
    [
      `archive: {s3: {endpoint: "https://a:b@s3", bucket: abc, ${KEYS}}}`,
      'archive.s3.endpoint: must be the address of an S3 service',
    ],
    [`archive: {s3: {${PLACE}, prefix: /a, ${KEYS}}}`, 'archive.s3.prefix: must be at most 512'],
    ['url: "mysql://h/b"', 'url: must be a URL such as postgres://'],
    ['urk: x', 'urk: unknown key; did you mean url?'],
  ])('are refused if wrong [%s]', (settings, problem) => {
    expect(problemsOf(`books: {${settings}}`).join('\n')).toContain(`t.yaml:1: books.${problem}`);
  });

  it('take a variable for a secret only with braces', () => {
    expect(problemsOf('books: {url: "postgres://me:$PASSWORD@h/b"}')[0]).toContain(
      `t.yaml:1: books.url: a variable is written \${NAME}`,
    );
  });
});
