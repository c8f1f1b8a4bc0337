import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { readNextConfig } from '../../../src/primary/read-next-config.ts';

const S3 = 'endpoint: "https://s3", bucket: abc, access_key: a';
const sourceOf = (text: string) => ({ path: undefined, text, env: {} });

function needsRestart(before: string, after: string): readonly string[] {
  const source = sourceOf(before);
  const current = { source, config: parseConfig(source), count: 1 };
  try {
    readNextConfig(() => sourceOf(after), current);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.needsRestart;
    throw error;
  }
}

describe('the next settings', () => {
  it.each([
    ['', 'books: {url: "postgres://h/b"}', 'books.url'],
    ['books: {url: "postgres://u:a@h/b"}', 'books: {url: "postgres://u:b@h/b"}', 'books.url'],
    ['', 'books: {connections: 9}', 'books.connections'],
    ['', 'books: {keep: 89d}', 'books.keep'],
    ['', 'books: {archive: {folder: /a}}', 'books.archive'],
    [
      `books: {archive: {s3: {${S3}, secret_key: a}}}`,
      `books: {archive: {s3: {${S3}, secret_key: b}}}`,
      'books.archive',
    ],
    ['', 'books: {waiting_entries_max: 9}', 'books.waiting_entries_max'],
    ['', 'redis: {url: "redis://h"}', 'redis.url'],
    ['redis: {url: "redis://:a@h"}', 'redis: {url: "redis://:b@h"}', 'redis.url'],
  ])('need a restart if the books or the store change [%s -> %s]', (before, after, setting) => {
    expect(needsRestart(before, after)).toEqual([setting]);
    expect(needsRestart(after, after)).toEqual([]);
  });

  it('may change what an upstream costs', () => {
    const cost = 'cost: {llm-opus-4.7: {input: 1, output: 1}}';
    expect(needsRestart('', `upstreams: [{name: simulated, kind: simulated, ${cost}}]`)).toEqual(
      [],
    );
  });
});
