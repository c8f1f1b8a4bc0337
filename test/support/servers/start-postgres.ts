import { type ChildProcess, execFile, spawn } from 'node:child_process';
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

const DATA = 'data';
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
  await run('cp', ['--archive', template, join(dir, DATA)]);
  // A client that is told a folder, and no port, looks for this one.
  if (port !== USUAL_PORT) await symlink(`.s.PGSQL.${port}`, join(dir, `.s.PGSQL.${USUAL_PORT}`));
  const server = prepareServer({ bin, who, dir, port, more });
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
  /** Everything that is committed by now has come. */
  catchUp(): Promise<void>;
  /** What is committed from now on does not come. */
  stopFollowing(): Promise<void>;
  /** Ends the other server as a crash does, and serves at its port with what has come. */
  takeOver(): Promise<void>;
}

export async function startStandby(
  cleanUp: CleanUp,
  primary: PostgresServer,
): Promise<PostgresStandby> {
  const bin = await findBinaries();
  const dir = createTempDir(cleanUp);
  const who = await findUser();
  if (who !== undefined) await chown(dir, who.uid, who.gid);
  const from = ['-h', '127.0.0.1', '-p', `${primary.port}`, '-U', 'postgres'];
  const flags = ['-D', join(dir, DATA), '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
  await run(join(bin, 'pg_basebackup'), [...from, ...flags], { ...who, cwd: dir });
  const port = await findFreePort();
  const standby = prepareServer({ bin, who, dir, port, more: [] });
  await standby.start();
  let inPlace: Pick<PostgresServer, 'kill'> = standby;
  cleanUp(() => inPlace.kill('SIGINT'));
  const url = urlOf(port, 'postgres');
  return {
    async catchUp() {
      const [{ place }] = (await ask(primary.url, 'select pg_current_wal_lsn() as place')) as [
        { readonly place: string },
      ];
      const question = `select pg_last_wal_replay_lsn() >= '${place}' as has_come`;
      await waitUntil(async () => (await ask(url, question))[0]?.['has_come'] === true, 'it came');
    },
    async stopFollowing() {
      await ask(url, "alter system set primary_conninfo = ''");
      await ask(url, 'select pg_reload_conf()');
      const question = 'select count(*)::int as receivers from pg_stat_wal_receiver';
      await waitUntil(
        async () => (await ask(url, question))[0]?.['receivers'] === 0,
        'it is alone',
      );
    },
    async takeOver() {
      await primary.kill('SIGKILL');
      await ask(url, 'select pg_promote()');
      await standby.kill('SIGINT');
      const successor = prepareServer({ bin, who, dir, port: primary.port, more: [] });
      inPlace = successor;
      await successor.start();
    },
  };
}

interface ServerPlace {
  readonly bin: string;
  readonly who: Who;
  readonly dir: string;
  readonly port: number;
  readonly more: readonly string[];
}

function prepareServer({ bin, who, dir, port, more }: ServerPlace) {
  const place = ['-D', join(dir, DATA), '-p', `${port}`, '-h', '127.0.0.1', '-k', dir];
  const args = [...place, ...WITHOUT_SYNC, ...more];
  const launch = () => spawn(join(bin, 'postgres'), args, { ...who, cwd: dir, stdio: 'ignore' });
  let server: ChildProcess | undefined;
  return {
    pid: () => server?.pid ?? 0,
    async start() {
      server = launch();
      await waitUntil(async () => {
        // After a kill it refuses to start until all processes of the killed one have ended.
        if (server?.exitCode !== null) server = launch();
        return await ask(urlOf(port, 'postgres'), 'select 1').then(
          () => true,
          () => false,
        );
      }, 'Postgres answers');
    },
    async kill(signal: NodeJS.Signals) {
      if (server?.pid === undefined) return;
      const { pid } = server;
      const isGone = once(server, 'exit');
      if (server.exitCode === null && server.signalCode === null) {
        process.kill(pid, signal);
        await isGone;
      }
      await waitUntil(() => !isAlive(pid), 'Postgres has ended');
    },
  };
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
