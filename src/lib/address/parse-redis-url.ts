import { Secret } from '../secret.ts';
import { decodeUrlPart } from './decode-url-part.ts';
import type { Endpoint } from './endpoint.ts';
import { formatEndpoint, parseEndpoint } from './parse-endpoint.ts';
import type { RedisAuth, RedisTarget } from './redis-target.ts';

const PORT = 6379;
const SENTINEL_PORT = 26_379;
const DATABASE_MAX = 2_147_483_647;
const NODES_MAX = 64;

interface Scheme {
  readonly topology: RedisTarget['topology'] | 'socket';
  readonly tls: boolean;
}

const SCHEMES = new Map<string, Scheme>([
  ['redis', { topology: 'standalone', tls: false }],
  ['rediss', { topology: 'standalone', tls: true }],
  ['unix', { topology: 'socket', tls: false }],
  ['redis-sentinel', { topology: 'sentinel', tls: false }],
  ['rediss-sentinel', { topology: 'sentinel', tls: true }],
  ['redis-cluster', { topology: 'cluster', tls: false }],
  ['rediss-cluster', { topology: 'cluster', tls: true }],
]);

interface UrlParts {
  readonly auth: RedisAuth;
  /** The text between the credentials and the first slash. */
  readonly hosts: string;
  readonly path: string;
  readonly query: string | undefined;
}

/**
 * Reads where Redis is:
 *
 *   redis://[[user]:password@]host[:6379][/database]
 *   redis-sentinel://[[user]:password@]host[:26379],…/master[?db=N]
 *   redis-cluster://[[user]:password@]host[:6379],…
 *   unix://[[user]:password@]/path[?db=N]
 *
 * and `rediss`, `rediss-sentinel` and `rediss-cluster` for TLS. No message repeats any part of the
 * URL: if a URL does not parse, it is unknown where its password ends.
 */
export function parseRedisUrl(text: string): RedisTarget {
  if (/[\s\p{Cc}\p{Cs}]/u.test(text)) {
    throw new Error('must not contain white space or control characters');
  }
  const match = /^([a-z-]+):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/.exec(text);
  const scheme = SCHEMES.get(match?.[1] ?? '');
  if (match === null || scheme === undefined) {
    throw new Error(
      `must be a URL such as redis://host:${PORT}/0; its scheme is one of ${[...SCHEMES.keys()].join(', ')}`,
    );
  }
  const [, , authority = '', path = '', query] = match;
  if (path.includes('@') || query?.includes('@') === true) {
    throw new Error('the characters / ? # @ and % in a user or a password must be percent-encoded');
  }
  const at = authority.lastIndexOf('@');
  const auth = parseAuth(at === -1 ? undefined : authority.slice(0, at));
  const parts: UrlParts = { auth, hosts: authority.slice(at + 1), path, query };
  switch (scheme.topology) {
    case 'standalone':
      return parseStandalone(parts, scheme.tls);
    case 'socket':
      return parseSocket(parts);
    case 'sentinel':
      return parseSentinel(parts, scheme.tls);
    case 'cluster':
      return parseCluster(parts, scheme.tls);
  }
}

/** Writes the URL with a mask in place of the password. */
export function formatRedisUrl(target: RedisTarget): string {
  const scheme = target.tls ? 'rediss' : 'redis';
  const { username, password } = target.auth;
  const auth =
    password === undefined ? '' : `${encodeURIComponent(username ?? '')}:${String(password)}@`;
  switch (target.topology) {
    case 'standalone': {
      if (target.endpoint.kind === 'tcp') {
        return `${scheme}://${auth}${formatEndpoint(target.endpoint)}/${target.database}`;
      }
      const path = target.endpoint.path.split('/').map(encodeURIComponent).join('/');
      return `unix://${auth}${path}?db=${target.database}`;
    }
    case 'sentinel': {
      const hosts = target.sentinels.map(formatEndpoint).join(',');
      return `${scheme}-sentinel://${auth}${hosts}/${target.masterName}?db=${target.database}`;
    }
    case 'cluster':
      return `${scheme}-cluster://${auth}${target.nodes.map(formatEndpoint).join(',')}`;
  }
}

function parseStandalone({ auth, hosts, path, query }: UrlParts, tls: boolean): RedisTarget {
  if (query !== undefined) throw new Error('the database belongs in the path, as in /0');
  const database = path.length > 1 ? parseDatabase(path.slice(1)) : 0;
  return { topology: 'standalone', endpoint: parseHost(hosts, PORT), tls, auth, database };
}

function parseSocket({ auth, hosts, path, query }: UrlParts): RedisTarget {
  if (hosts !== '') throw new Error('a unix URL names no host: write unix:///path');
  const endpoint: Endpoint = parseEndpoint(`unix:${decodeUrlPart(path)}`);
  return { topology: 'standalone', endpoint, tls: false, auth, database: databaseOf(query) };
}

function parseSentinel({ auth, hosts, path, query }: UrlParts, tls: boolean): RedisTarget {
  const sentinels = parseHosts(hosts, SENTINEL_PORT);
  const masterName = path.slice(1);
  if (!/^[A-Za-z0-9._-]+$/.test(masterName)) {
    throw new Error('the path must be the name of the master (letters, digits and . _ -)');
  }
  return { topology: 'sentinel', sentinels, masterName, tls, auth, database: databaseOf(query) };
}

function parseCluster({ auth, hosts, path, query }: UrlParts, tls: boolean): RedisTarget {
  if (path.length > 1 || query !== undefined) {
    throw new Error('a cluster URL ends after the hosts: a cluster has no numbered databases');
  }
  return { topology: 'cluster', nodes: parseHosts(hosts, PORT), tls, auth };
}

function parseAuth(text: string | undefined): RedisAuth {
  if (text === undefined) return { username: undefined, password: undefined };
  const colon = text.indexOf(':');
  if (colon === -1) throw new Error('a password must be given as :password@ or user:password@');
  const username = decodeUrlPart(text.slice(0, colon));
  const password = decodeUrlPart(text.slice(colon + 1));
  if (password === '') throw new Error('the password is empty');
  return { username: username === '' ? undefined : username, password: new Secret(password) };
}

function parseHosts(text: string, defaultPort: number) {
  const hosts = text.split(',');
  if (hosts.length > NODES_MAX) throw new Error(`at most ${NODES_MAX} hosts may be named`);
  return hosts.map((host) => parseHost(host, defaultPort));
}

function parseHost(text: string, defaultPort: number) {
  const namesPort = !/^(\[[^\]]*\]|[^:]*)$/.test(text);
  const endpoint = parseEndpoint(namesPort ? text : `${text}:${defaultPort}`);
  if (endpoint.kind !== 'tcp') throw new Error('the host must be a name or an address');
  return endpoint;
}

function databaseOf(query: string | undefined): number {
  if (query === undefined) return 0;
  if (!query.startsWith('db=')) throw new Error('the only option after ? is db=N');
  return parseDatabase(query.slice('db='.length));
}

function parseDatabase(text: string): number {
  const database = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : DATABASE_MAX + 1;
  if (database > DATABASE_MAX) throw new Error('the database must be a whole number from 0');
  return database;
}
