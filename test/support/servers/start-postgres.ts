import { type ChildProcess, execFile, spawn } from 'node:child_process';
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
}

/** More arguments are those of the program `postgres`. */
export async function startPostgres(
  cleanUp: CleanUp,
  more: readonly string[] = [],
): Promise<PostgresServer> {
  const bin = await findBinaries();
  const dir = createTempDir(cleanUp);
  const data = join(dir, 'data');
  const port = await findFreePort();
  const who = await findUser();
  if (who !== undefined) await chown(dir, who.uid, who.gid);
  const isInTest = process.env['VITEST_WORKER_ID'] !== undefined;
  const template = await findTemplate(bin, who, isInTest ? inject('runFolder') : dir);
  await run('cp', ['--archive', template, data]);
  // A client that is told a folder, and no port, looks for this one.
  if (port !== USUAL_PORT) await symlink(`.s.PGSQL.${port}`, join(dir, `.s.PGSQL.${USUAL_PORT}`));
  let server: ChildProcess;
  const urlOf = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`;

  const start = async () => {
    const place = ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', dir];
    const args = [...place, ...WITHOUT_SYNC, ...more];
    const launch = () => spawn(join(bin, 'postgres'), args, { ...who, cwd: dir, stdio: 'ignore' });
    server = launch();
    await waitUntil(async () => {
      // After a kill it refuses to start until all processes of the killed one have ended.
      if (server.exitCode !== null) server = launch();
      return await ask(urlOf('postgres'), 'select 1').then(
        () => true,
        () => false,
      );
    }, 'Postgres answers');
  };
  const kill = async (signal: NodeJS.Signals) => {
    const pid = server.pid ?? 0;
    const isGone = new Promise((resolve) => server.once('exit', resolve));
    if (server.exitCode === null && server.signalCode === null) {
      process.kill(pid, signal);
      await isGone;
    }
    await waitUntil(() => !isAlive(pid), 'Postgres has ended');
  };
  const createDatabase = async (name: string) => {
    await ask(urlOf('postgres'), `create database "${name}"`);
    return urlOf(name);
  };
  await start();
  cleanUp(() => kill('SIGINT'));
  return {
    port,
    pid: () => server.pid ?? 0,
    url: urlOf('postgres'),
    socketFolder: dir,
    createDatabase,
    kill,
    start,
  };
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

async function ask(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(text);
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
