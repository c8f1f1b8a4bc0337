import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { archiveDay } from '../../../src/books/archive/archive-day.ts';
import type { ArchiveStore } from '../../../src/books/archive/archive-store.ts';
import type { Row } from '../../../src/books/archive/day-source.ts';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import {
  type QueryOptions,
  queryBooks,
  type ReadyDay,
} from '../../../src/books/archive/query-books.ts';
import { createS3Place } from '../../../src/books/archive/s3-place.ts';
import { msOfDay } from '../../../src/books/engine/days.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { startS3Server } from '../../support/servers/start-s3-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { DAY, rowOf, rowsOf, sourceOf } from './days.ts';

const DAY_START = msOfDay(DAY);

async function ask(sql: string, options: Partial<QueryOptions> = {}): Promise<string> {
  const tempFolder = createTempDir();
  let text = '';
  for await (const piece of queryBooks(sql, { format: 'jsonl', tempFolder, ...options })) {
    text += piece;
  }
  expect(readdirSync(tempFolder)).toEqual([]);
  return text;
}

async function archiveRows(rows: readonly Row[], place: ArchiveStore, day = DAY): Promise<void> {
  await archiveDay(sourceOf(rows, day), place, {
    clock: { nowMs: () => Date.now() },
    tempFolder: createTempDir(),
    rowsPerFileMax: 200,
  });
}

async function placeWith(rows: readonly Row[]): Promise<ArchiveStore> {
  const place = createFolderPlace(createTempDir());
  await archiveRows(rows, place);
  return place;
}

const nextDay = (rows: readonly Row[]) =>
  rows.map((row) => ({ ...row, ms: Number(row['ms']) + msOfDay(1) }));

const PLACES: readonly [string, () => ArchiveStore | Promise<ArchiveStore>][] = [
  ['a folder', () => createFolderPlace(createTempDir())],
  ['a bucket', async () => createS3Place({ ...(await startS3Server()), prefix: '' })],
];

describe.each(PLACES)('a query over %s and the live days', (_where, createPlace) => {
  it('sees each day once, and only those in question are read', async () => {
    const place = await createPlace();
    await archiveRows(rowsOf(500), place);
    const opened: number[] = [];
    const live = {
      list: async () => [DAY + 1, DAY + 2].map((day) => ({ day, has: 'all' as const })),
      open: (day: number) => {
        opened.push(day);
        return sourceOf(day === DAY + 1 ? nextDay(rowsOf(300)) : [], day);
      },
    };
    const ready: ReadyDay[] = [];
    const sql =
      'SELECT date, count(*) AS n, sum(charged) AS sum FROM entries GROUP BY date ORDER BY date';
    const onDay = (day: ReadyDay) => ready.push(day);
    expect(await ask(sql, { place, live, onDay })).toBe(
      '{"date":"2026-11-23","n":500,"sum":624750}\n{"date":"2026-11-24","n":300,"sum":344850}\n',
    );
    expect(opened).toEqual([DAY + 1, DAY + 2]);
    expect(ready).toEqual([
      { date: '2026-11-23', from: 'archive', done: 1, days: 3 },
      { date: '2026-11-24', from: 'books', done: 2, days: 3 },
      { date: '2026-11-25', from: 'books', done: 3, days: 3 },
    ]);
    ready.length = 0;
    const bounds = { fromMs: DAY_START + 100, toMs: msOfDay(DAY + 1) };
    expect(await ask(sql, { place, live, onDay, ...bounds })).toContain('"n":200,');
    expect(ready.map(({ date }) => date)).toEqual(['2026-11-23']);
  });

  it('fails if a day that has left the books is not there', async () => {
    const place = await createPlace();
    await archiveRows(rowsOf(10), place);
    const days = [
      { day: DAY, has: 'nothing' as const },
      { day: DAY + 1, has: 'rest' as const },
    ];
    const live = { list: async () => days, open: (day: number) => sourceOf([], day) };
    await expect(ask('FROM entries', { place, live })).rejects.toThrow('has no 2026-11-24, and');
    await expect(ask('FROM entries', { live })).rejects.toThrow('books.archive is not set, and');
    const toMs = msOfDay(DAY + 1);
    expect(await ask('SELECT count(*) AS n FROM entries', { place, live, toMs })).toBe(
      '{"n":10}\n',
    );
  });

  it('fails if a day was brought back from the archive meanwhile', async () => {
    const place = await createPlace();
    await archiveRows(rowsOf(10), place);
    let has: 'rest' | 'all' = 'rest';
    const live = {
      list: async () => [{ day: DAY, has }],
      open: (day: number) => {
        has = 'all';
        return sourceOf(rowsOf(12), day);
      },
    };
    await expect(ask('FROM entries', { place, live })).rejects.toThrow(
      '2026-11-23 has left or entered the archive meanwhile: ask again',
    );
    expect(await ask('SELECT count(*) AS n FROM entries', { place, live })).toBe('{"n":12}\n');
  });

  it('fails on a damaged part, and says which', async () => {
    const place = await createPlace();
    await archiveRows(rowsOf(10), place);
    const [part = ''] = await place.list('entries/');
    await place.putText(part, 'damaged');
    await expect(ask('FROM entries', { place })).rejects.toThrow(
      `${part} is damaged: it has 7 bytes, not`,
    );
    await place.remove(part);
    await expect(ask('FROM entries', { place })).rejects.toThrow('is damaged: it is missing');
  });
});

describe('what a query reads', () => {
  it('is every value as it was archived', async () => {
    const odd = [
      { held: Number.MAX_SAFE_INTEGER, charged: Number.MIN_SAFE_INTEGER, short: -1 },
      { held: 2n ** 63n - 1n, charged: -(2n ** 63n), balance: null, streamed: null },
      { request: '', account: "o'h\u0000ara", end_user: '日本 🙂 "x", \\ \r\n\t', key: 'ü' },
      { details: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)) },
      { details: Buffer.alloc(0), streamed: true, estimated: 1 },
    ].map((differing, index) => rowOf(index, differing));
    const place = await placeWith(odd);
    const found = await ask('SELECT * EXCLUDE (time, date) FROM entries ORDER BY ms, bucket', {
      place,
    });
    const lines = odd.map((row) => {
      const cells = Object.entries(row).map(([name, value]) => {
        const isBoolean = name === 'streamed' || name === 'estimated';
        const shown = isBoolean && value !== null ? Boolean(value) : value;
        if (typeof shown === 'bigint') return `"${name}":${shown}`;
        const text = shown instanceof Uint8Array ? Buffer.from(shown).toString('hex') : shown;
        return `${JSON.stringify(name)}:${JSON.stringify(text)}`;
      });
      return `{${cells.join(',')}}\n`;
    });
    expect(found).toBe(lines.join(''));
  });

  it('has the columns of an entry also if there is no entry', async () => {
    const sql = 'SELECT count(*) AS n, max(charged) AS most, max(time) AS last FROM entries';
    expect(await ask(sql)).toBe('{"n":0,"most":null,"last":null}\n');
    const place = await placeWith([]);
    expect(await ask(sql, { place })).toBe('{"n":0,"most":null,"last":null}\n');
  });

  it('tells times in UTC', async () => {
    const place = await placeWith([rowOf(0, { ms: DAY_START + 3_723_004 })]);
    const sql = `SELECT time, date, date_trunc('hour', time) AS hour, time::TIMESTAMPTZ AS zoned FROM entries`;
    expect(await ask(sql, { place })).toBe(
      '{"time":"2026-11-23T01:02:03.004Z","date":"2026-11-23","hour":"2026-11-23T01:00:00.000Z","zoned":"2026-11-23T01:02:03.004Z"}\n',
    );
  });

  it('is found in a folder whose name looks like a pattern', async () => {
    const folder = join(createTempDir(), "a [b]*? 'c'");
    mkdirSync(folder);
    const place = createFolderPlace(folder);
    await archiveRows(rowsOf(3), place);
    expect(await ask('SELECT count(*) AS n FROM entries', { place })).toBe('{"n":3}\n');
  });
});

describe('an answer', () => {
  const sql = `SELECT * FROM (VALUES (1, 'a', [1, 2]), (20, NULL, NULL), (-3, '=1+1', [])) AS t(n, text, list)`;

  it('is a table with aligned columns', async () => {
    expect(await ask(sql, { format: 'table' })).toBe(
      'n   text  list\n1   a     [1,2]\n20\n-3  =1+1  []\n',
    );
    expect(await ask('SELECT 1 AS a WHERE false', { format: 'table' })).toBe('a\n');
  });

  it('is CSV that no spreadsheet takes for formulas', async () => {
    expect(await ask(sql, { format: 'csv' })).toBe(`n,text,list\n1,a,"[1,2]"\n20,,\n-3,'=1+1,[]\n`);
  });

  it('is JSON lines', async () => {
    expect(await ask(sql)).toBe(
      '{"n":1,"text":"a","list":[1,2]}\n{"n":20,"text":null,"list":null}\n{"n":-3,"text":"=1+1","list":[]}\n',
    );
    expect(await ask(`SELECT {'a': 1.25, 'b': 2::BIGINT} AS s, 0.5 AS d, 'NaN'::DOUBLE AS x`)).toBe(
      '{"s":{"a":1.25,"b":"2"},"d":0.5,"x":null}\n',
    );
  });

  it('comes in pieces, however long it is', async () => {
    const options = { format: 'table', tempFolder: createTempDir() } as const;
    let pieces = 0;
    let lines = 0;
    for await (const piece of queryBooks('SELECT range AS n FROM range(20_000)', options)) {
      pieces += 1;
      lines += piece.split('\n').length - 1;
    }
    expect(lines).toBe(20_001);
    expect(pieces).toBeGreaterThan(5);
  });

  it('ends when its signal is aborted, also within DuckDB', async () => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const listening = vi.spyOn(signal, 'addEventListener');
    const endless = 'SELECT sum(a.range * b.range) FROM range(10_000_000) a, range(10_000_000) b';
    const asked = ask(endless, { signal });
    // It listens from the moment in which DuckDB begins.
    await waitUntil(() => listening.mock.calls.length > 0, 'DuckDB has begun');
    leaving.abort(new Error('the reader has left'));
    await expect(asked).rejects.toThrow('the reader has left');
  });
});

describe('a query', () => {
  it('is one SELECT', async () => {
    const place = await placeWith(rowsOf(3));
    const one = 'a query is one SELECT, not several statements';
    const only = 'a query is a SELECT: the books cannot be changed';
    await expect(ask(' ', { place })).rejects.toThrow('the query is empty');
    await expect(ask('SELECT 1; SELECT 2', { place })).rejects.toThrow(one);
    await expect(ask('CREATE TABLE x (a INT)', { place })).rejects.toThrow(only);
    await expect(ask('DROP VIEW entries', { place })).rejects.toThrow(only);
    await expect(ask('SET threads = 8', { place })).rejects.toThrow(only);
    await expect(ask('EXPLAIN ANALYZE SELECT 1', { place })).rejects.toThrow(only);
    await expect(ask('SELECT nothing FROM entries', { place })).rejects.toThrow('"nothing"');
    await expect(ask('SELEC 1', { place })).rejects.toThrow('syntax error');
    expect(await ask('SUMMARIZE entries;', { place })).toContain('"column_name":"ms"');
    expect(await ask('DESCRIBE entries', { place })).toContain('"column_name":"charged"');
  });

  it('reads and writes no other file', async () => {
    const folder = createTempDir();
    const place = createFolderPlace(folder);
    await archiveRows(rowsOf(3), place);
    const [name = ''] = await place.list('entries/');
    const part = join(folder, name);
    const before = readFileSync(part);
    const secret = join(folder, 'secret.txt');
    writeFileSync(secret, 'secret');
    for (const sql of [
      `SELECT * FROM read_text('${secret}')`,
      `SELECT * FROM read_csv('${secret}')`,
      `FROM '${secret}'`,
      `SELECT * FROM glob('${folder}/*')`,
      `COPY (SELECT 1) TO '${secret}'`,
      `COPY (SELECT 1) TO '${part}' (FORMAT parquet, USE_TMP_FILE false)`,
      `SELECT * FROM query('COPY (SELECT 1) TO ''${secret}''')`,
      `ATTACH '${folder}/other.db'`,
      'INSTALL httpfs',
      `EXPORT DATABASE '${folder}/export'`,
    ]) {
      await expect(ask(sql, { place }), sql).rejects.toThrow();
    }
    expect(readFileSync(secret, 'utf8')).toBe('secret');
    expect(readFileSync(part).equals(before)).toBe(true);
    expect(readdirSync(folder).toSorted()).toEqual(['entries', 'manifest', 'secret.txt']);
  });
});
