import { randomUUID } from 'node:crypto';
import { chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseBooksUrl } from '../../src/lib/address/parse-books-url.ts';
import { type PostgresServer, startPostgres } from '../support/servers/start-postgres.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createIdentity } from '../upstream/http1/create-identity.ts';
import { createBooksOpener } from './books-scene.ts';

const cleanUp = useCleanUp();
const open = createBooksOpener(cleanUp);
const identity = createIdentity('DNS:localhost');
const stranger = createIdentity('DNS:localhost');

const USER = 'a user@home';
const PASSWORD = `p:a/s?s#w@o%r%20d+&=$"\\!~*é✓ ${randomUUID()}`;
/** Clients come in with TLS and a password; the tests themselves with neither. */
const HOST_RULES = `local all all trust
host all postgres all trust
hostssl all all all scram-sha-256
`;
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres(cleanUp);
  const data = join(server.socketFolder, 'data');
  const { uid, gid } = await stat(data);
  const files = { 'server.crt': identity.cert, 'server.key': identity.key };
  for (const [name, content] of Object.entries({ ...files, 'pg_hba.conf': HOST_RULES })) {
    await writeFile(join(data, name), content, { mode: 0o600 });
    await chown(join(data, name), uid, gid);
  }
  const { db } = open({ kind: 'postgres', url: server.url, connectionsMax: 1 });
  const quoted = PASSWORD.replaceAll("'", "''");
  await sql.raw(`set standard_conforming_strings = on`).execute(db);
  await sql.raw(`create role "${USER}" login password '${quoted}'`).execute(db);
  await sql`alter system set ssl = on`.execute(db);
  await sql`select pg_reload_conf()`.execute(db);
  await waitUntil(async () => {
    const { rows } = await sql<{ ssl: string }>`show ssl`.execute(db);
    return rows[0]?.ssl === 'on';
  }, 'the server talks TLS');
});

function urlOf(options: string, { host = 'localhost', password = PASSWORD } = {}): string {
  const credentials = [USER, password].map(encodeURIComponent).join(':');
  return `postgres://${credentials}@${host}:${server.port}/postgres${options}`;
}

/** Asks the server whether the connection is encrypted, and whose it is. */
async function ask(...[options, login]: Parameters<typeof urlOf>) {
  const place = parseBooksUrl(urlOf(options, login));
  if (place.kind !== 'postgres') throw new Error('it is a server');
  const { db } = open({ kind: 'postgres', url: place.url.reveal(), connectionsMax: 1 });
  const { rows } = await sql<{ ssl: boolean; user: string }>`
    select ssl, current_user as user from pg_stat_ssl where pid = pg_backend_pid()`.execute(db);
  return rows[0];
}

describe('a connection to Postgres', () => {
  it('is encrypted for a user and a password of any characters', async () => {
    const options = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(identity.certPath)}`;
    expect(await ask(options)).toEqual({ ssl: true, user: USER });
  });

  it.each([
    ['a server that nobody has signed', '?sslmode=verify-full', 'localhost', 'self-signed'],
    ['one that another authority has signed', 'stranger', 'localhost', 'self-signed'],
    ['one of another name', 'own', '127.0.0.1', 'altnames'],
  ])('is not made to %s', async (_name, options, host, problem) => {
    const roots: Readonly<Record<string, string>> = {
      stranger: stranger.certPath,
      own: identity.certPath,
    };
    const root = roots[options];
    const query = root === undefined ? options : `?sslmode=verify-full&sslrootcert=${root}`;
    await expect(ask(query, { host })).rejects.toThrow(problem);
  });

  it('is made to any server where that is asked for', async () => {
    expect(await ask('?sslmode=no-verify')).toEqual({ ssl: true, user: USER });
    const compatible = '?sslmode=require&uselibpqcompat=true';
    expect(await ask(compatible)).toEqual({ ssl: true, user: USER });
  });

  it('sees what was committed while it waited, whatever its role has by default', async () => {
    const { db } = open({ kind: 'postgres', url: server.url, connectionsMax: 1 });
    const setting = sql.raw('default_transaction_isolation');
    await sql`alter role ${sql.ref(USER)} set ${setting} = 'serializable'`.execute(db);
    const place = parseBooksUrl(urlOf('?sslmode=no-verify'));
    if (place.kind !== 'postgres') throw new Error('it is a server');
    const own = open({ kind: 'postgres', url: place.url.reveal(), connectionsMax: 1 });
    const { rows } = await sql<{ level: string }>`
      select current_setting('transaction_isolation') as level`.execute(own.db);
    expect(rows).toEqual([{ level: 'read committed' }]);
    await sql`alter role ${sql.ref(USER)} reset all`.execute(db);
  });

  it('is refused by a server that asks for encryption', async () => {
    await expect(ask('?sslmode=disable')).rejects.toThrow('no encryption');
  });

  it('says that a password is wrong, and does not repeat it', async () => {
    const error = await ask('?sslmode=no-verify', { password: 'sesame' }).catch(String);
    expect(error).toContain('password authentication failed');
    expect(error).not.toContain('sesame');
  });
});
