import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { inject } from 'vitest';
import { type CleanUp, createTempDir } from '../create-temp-dir.ts';
import { isAlive } from '../is-alive.ts';
import { waitUntil } from '../wait-until.ts';
import { findFreePort } from './find-free-port.ts';

const VERSIONS_DIR = '/usr/lib/postgresql';
const run = promisify(execFile);

const USUAL_PORT = 5_432;

/** Tests end its process at most, and never the machine. */
const WITHOUT_SYNC = ['-c', 'fsync=off'];

/** A real server of Debian's Postgres, in a folder of its own. */
export interface PostgresServer {
  readonly port: number;
  readonly pid: () => number;
  /** Of a database that is empty at first. */
  readonly url: string;
  /** Of its unix socket, which has the name of the usual port. */
  readonly socketFolder: string;
  createDatabase(name: string): Promise<string>;
  kill(signal: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  /** Starts with other data at the same place. */
  serveFrom(data: string): Promise<void>;
}

/** More arguments are those of the program `postgres`. */
export async function startPostgres(
  cleanUp: CleanUp,
  more: readonly string[] = [],
): Promise<PostgresServer> {
  const bin = await findBinaries();
  const dir = createTempDir(cleanUp);
  const port = await findFreePort();
  const who = await findUser();
  if (who !== undefined) await chown(dir, who.uid, who.gid);
  const isInTest = process.env['VITEST_WORKER_ID'] !== undefined;
  const template = await findTemplate(bin, who, isInTest ? inject('runFolder') : dir);
  const data = join(dir, 'data');
  await run('cp', ['--archive', template, data]);
  // A client that is told a folder, and no port, looks for this one.
  if (port !== USUAL_PORT) await symlink(`.s.PGSQL.${port}`, join(dir, `.s.PGSQL.${USUAL_PORT}`));
  const server = prepareServer({ bin, who, dir, port, more }, data);
  const createDatabase = async (name: string) => {
    await ask(urlOf(port, 'postgres'), `create database "${name}"`);
    return urlOf(port, name);
  };
  await server.start();
  cleanUp(() => server.kill('SIGINT'));
  return { ...server, port, url: urlOf(port, 'postgres'), socketFolder: dir, createDatabase };
}

/** Follows a server without holding up its commits. */
export interface PostgresStandby {
  /** Of what has come. It is for reading, and ends when this server takes over. */
  urlOf(database: string): string;
  /** Everything that is committed by now has come. */
  catchUp(): Promise<void>;
  /** What is committed from now on does not come. */
  stopFollowing(): Promise<void>;
  /**
   * Ends the other server as a crash does, and serves in its place with what has come. Returns how
   * many bytes of the other's log have not.
   */
  takeOver(): Promise<number>;
}

export async function startStandby(
  cleanUp: CleanUp,
  primary: PostgresServer,
): Promise<PostgresStandby> {
  const bin = await findBinaries();
  const who = await findUser();
  const dir = primary.socketFolder;
  const data = join(dir, `standby-${randomUUID()}`);
  const from = ['-h', '127.0.0.1', '-p', `${primary.port}`, '-U', 'postgres'];
  const flags = ['-D', data, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
  await run(join(bin, 'pg_basebackup'), [...from, ...flags], { ...who, cwd: dir });
  const port = await findFreePort();
  const standby = prepareServer({ bin, who, dir, port, more: [] }, data);
  await standby.start();
  cleanUp(() => standby.kill('SIGINT'));
  const url = urlOf(port, 'postgres');
  const readEnd = async () => {
    const [row] = await ask(primary.url, 'select pg_current_wal_lsn() as place');
    return String(row?.['place']);
  };
  const readLack = async (end: string) => {
    const place = 'pg_last_wal_replay_lsn()';
    const [row] = await ask(url, `select pg_wal_lsn_diff('${end}', ${place}) as bytes`);
    return Number(row?.['bytes']);
  };
  return {
    urlOf: (database) => urlOf(port, database),
    async catchUp() {
      const end = await readEnd();
      await waitUntil(async () => (await readLack(end)) <= 0, 'it has caught up');
    },
    async stopFollowing() {
      await ask(url, "alter system set primary_conninfo = ''");
      await ask(url, 'select pg_reload_conf()');
      const question = 'select pid from pg_stat_wal_receiver';
      await waitUntil(async () => (await ask(url, question)).length === 0, 'it is alone');
    },
    async takeOver() {
      const end = await readEnd();
      await primary.kill('SIGKILL');
      const lack = await readLack(end);
      await ask(url, 'select pg_promote()');
      await standby.kill('SIGINT');
      await primary.serveFrom(data);
      return lack;
    },
  };
}

interface ServerPlace {
  readonly bin: string;
  readonly who: Who;
  /** For its unix socket. */
  readonly dir: string;
  readonly port: number;
  readonly more: readonly string[];
}

function prepareServer({ bin, who, dir, port, more }: ServerPlace, firstData: string) {
  let data = firstData;
  let server: ChildProcess | undefined;
  const launch = () => {
    const place = ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', dir];
    const args = [...place, ...WITHOUT_SYNC, ...more];
    return spawn(join(bin, 'postgres'), args, { ...who, cwd: dir, stdio: 'ignore' });
  };
  const start = async () => {
    server = launch();
    await waitUntil(async () => {
      // After a kill it refuses to start until all processes of the killed one have ended.
      if (server?.exitCode !== null) server = launch();
      return await ask(urlOf(port, 'postgres'), 'select 1').then(
        () => true,
        () => false,
      );
    }, 'Postgres answers');
  };
  const serveFrom = async (other: string) => {
    data = other;
    await start();
  };
  const kill = async (signal: NodeJS.Signals) => {
    if (server?.pid === undefined) return;
    const { pid } = server;
    const isGone = once(server, 'exit');
    if (server.exitCode === null && server.signalCode === null) {
      process.kill(pid, signal);
      await isGone;
    }
    await waitUntil(() => !isAlive(pid), 'Postgres has ended');
  };
  return { pid: () => server?.pid ?? 0, start, serveFrom, kill };
}

function urlOf(port: number, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

type Who = { readonly uid: number; readonly gid: number } | undefined;

/** The data of an empty server: the first start of a run makes it, and each server has a copy. */
async function findTemplate(bin: string, who: Who, folder: string): Promise<string> {
  const template = join(folder, 'postgres');
  if (existsSync(template)) return template;
  const dir = await mkdtemp(join(folder, 'making-'));
  const data = join(dir, 'data');
  await mkdir(data, { mode: 0o700 });
  if (who !== undefined) {
    await chown(dir, who.uid, who.gid);
    await chown(data, who.uid, who.gid);
  }
  const flags = ['-D', data, '-U', 'postgres', '-A', 'trust', '--locale=C', '-E', 'UTF8'];
  await run(join(bin, 'initdb'), [...flags, '--no-sync'], { ...who, cwd: dir });
  await rename(data, template).catch((error) => {
    // Another process of the run was faster.
    if (!existsSync(template)) throw error;
  });
  return template;
}

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

async function findBinaries(): Promise<string> {
  const versions = await readdir(VERSIONS_DIR);
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error('Postgres is not installed');
  return join(VERSIONS_DIR, newest, 'bin');
}

/** Postgres refuses to run as root. */
async function findUser(): Promise<Who> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, 'postgres'])).stdout)),
  );
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
