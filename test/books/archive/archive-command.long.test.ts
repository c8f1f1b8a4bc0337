import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { archiveDay } from '../../../src/books/archive/archive-day.ts';
import { ENTRY_COLUMNS } from '../../../src/books/archive/entry-columns.ts';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { removeManifest } from '../../../src/books/archive/manifest.ts';
import { nameDay } from '../../../src/books/engine/days.ts';
import { migrateBooks } from '../../../src/books/engine/migrate-books.ts';
import { readConfigSource } from '../../../src/config/source/read-config-source.ts';
import { ARCHIVER_KEY } from '../../../src/redis/redis-keys.ts';
import { runHere } from '../../cli/use-cli.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { enter } from '../questions/questions-scene.ts';
import { useRedis } from '../use-redis.ts';
import {
  entriesOfDay,
  listFiles,
  noteProgress,
  readStates,
  sumEntries,
  TODAY,
} from './retention-scene.ts';

const PROGRAM = 'dist/src/main.js';
const SUMS = 'SELECT count(*) AS entries, sum(charged) AS charged FROM entries';
const redis = useRedis();

describeBooks('tollgate books archive and query', ({ createTarget, open }) => {
  /** Settings, and books with two days that are due, since it is long after 2026-11-20. */
  const createScene = async ({ hasArchive = true } = {}) => {
    const created = await createTarget();
    const dataDir = createTempDir();
    const target =
      created.kind === 'file' ? { kind: 'file' as const, dir: join(dataDir, 'books') } : created;
    const books = open(target);
    await migrateBooks(books, 0);
    const day = Math.floor(Date.now() / 86_400_000) - 10;
    const entries = [...entriesOfDay(day, 300), ...entriesOfDay(day + 1, 100)];
    await enter(books, entries);
    await noteProgress(books, redis.connection, Date.now());
    const folder = createTempDir();
    const config = join(dataDir, 'tollgate.yaml');
    const url = target.kind === 'postgres' ? `url: "${target.url}?sslmode=disable", ` : '';
    const archive = hasArchive ? `archive: {folder: ${folder}}` : '';
    writeFileSync(
      config,
      `redis: {url: "redis://127.0.0.1:${redis.server.port}"}\ndata_dir: ${dataDir}\nbooks: {${url}keep: 2d, ${archive}}\n`,
    );
    const run = (command: string, ...args: string[]) =>
      runHere({}, 'books', command, ...args, '--config', config);
    const states = async () => {
      const found = await readStates(books);
      return [day, day + 1].map((asked) => found[asked - TODAY]);
    };
    const verify = () => runHere({}, 'ledger', 'verify', '--full', '--config', config);
    return { run, verify, states, folder, config, day, sums: sumEntries(entries) };
  };

  it('shows what is due, archives it, and finds every entry before and after', async () => {
    const { run, states, folder, sums } = await createScene();
    const plan = await run('archive', '--dry-run');
    expect(plan).toMatchObject({ code: 0, err: '' });
    expect(plan.out.match(/would be archived/g)).toHaveLength(2);
    expect([await states(), listFiles(folder)]).toEqual([['open', 'open'], []]);
    expect(JSON.parse((await run('query', SUMS, '--json')).out)).toEqual(sums);
    expect(await run('archive')).toMatchObject({ code: 0, err: '' });
    expect(await states()).toEqual(['dropped', 'dropped']);
    expect(JSON.parse((await run('query', SUMS, '--json')).out)).toEqual(sums);
    const csv = await run('query', SUMS, '--csv');
    expect(csv.out).toBe(`entries,charged\n${sums.entries},${sums.charged}\n`);
    expect(await run('archive')).toMatchObject({ code: 0, out: 'No day is due.\n' });
  });

  it('tells the node that runs it of each page and each file', async () => {
    const { config, states, day } = await createScene();
    const child = spawn(process.execPath, [PROGRAM, 'books', 'archive', '--settings-on-stdin']);
    child.stdin.end(JSON.stringify(readConfigSource(config)));
    const told = (await readText(child.stdout)).split('\n');
    expect(await states()).toEqual(['dropped', 'dropped']);
    const ofDay = told.filter((line) => line.startsWith(`archiving ${nameDay(day)}`));
    // At its begin, when its page is read, when its file is written, and when it is read back.
    expect(ofDay.map((line) => line.replace(/.*: /, ''))).toEqual([
      ...['0 entries', '300 entries', '300 entries', '300 entries'],
    ]);
  });

  it('changes nothing without an archive in the settings', async () => {
    const { run, states, sums } = await createScene({ hasArchive: false });
    expect(await run('archive')).toMatchObject({
      code: 1,
      err: expect.stringContaining('not set'),
    });
    expect(await states()).toEqual(['open', 'open']);
    expect(JSON.parse((await run('query', SUMS, '--json')).out)).toEqual(sums);
  });

  it('is found by ledger verify --full if it is another one than was written', async () => {
    const { run, folder, day, verify } = await createScene();
    await run('archive');
    expect((await verify()).out).not.toContain('archive  ');
    const place = createFolderPlace(folder);
    await removeManifest(place, day);
    const entries = entriesOfDay(day, 300).map((entry) => ({ ...entry, account: 'acct_forged' }));
    const rows = async function* () {
      yield entries.map((entry) => ({ ...entry }));
    };
    const options = { clock: { nowMs: () => Date.now() }, tempFolder: createTempDir() };
    await archiveDay({ day, columns: ENTRY_COLUMNS, rows }, place, options);
    expect(await verify()).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        `archive  the manifest of ${nameDay(day)} is not the one that the books have`,
      ),
    });
  });

  it('must be in the settings for ledger verify --full', async () => {
    const { run, config, day, verify } = await createScene();
    await run('archive');
    writeFileSync(config, readFileSync(config, 'utf8').replace(/archive: \{.*?\}/, ''));
    expect(await verify()).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        `archive  ${nameDay(day)} is in an archive, and books.archive is not set`,
      ),
    });
  });

  it.each(['SIGHUP', 'SIGKILL'] as const)('leaves no files of a query after %s', async (signal) => {
    const { run, config, sums } = await createScene();
    const endless = 'SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b';
    const child = spawn(process.execPath, [PROGRAM, 'books', 'query', endless, '--config', config]);
    const exited = once(child, 'exit');
    const querying = join(dirname(config), 'querying');
    await waitUntil(() => listFiles(querying).length > 0, 'it has copied a day');
    child.kill(signal);
    await exited;
    if (signal === 'SIGHUP') expect(readdirSync(querying)).toEqual([]);
    expect(JSON.parse((await run('query', SUMS, '--json')).out)).toEqual(sums);
    expect(readdirSync(querying)).toEqual([]);
  });

  it.each([1, 2, 3, 4])(
    'loses nothing when it is killed at change %i of the archive',
    async (nth) => {
      const { run, states, folder, config, sums } = await createScene();
      mkdirSync(join(folder, 'manifest'));
      const child = spawn(process.execPath, [PROGRAM, 'books', 'archive', '--config', config]);
      let changes = 0;
      const watcher = watch(join(folder, 'manifest'), () => {
        changes += 1;
        if (changes === nth) child.kill('SIGKILL');
      });
      await once(child, 'exit');
      watcher.close();
      expect(child.signalCode).toBe('SIGKILL');
      expect(JSON.parse((await run('query', SUMS, '--json')).out)).toEqual(sums);
      // Otherwise it would wait until the killed one's lease ends.
      await redis.connection.send('del', [ARCHIVER_KEY]);
      expect(await run('archive')).toMatchObject({ code: 0, err: '' });
      expect(await states()).toEqual(['dropped', 'dropped']);
      expect(JSON.parse((await run('query', SUMS, '--json')).out)).toEqual(sums);
    },
  );
});
