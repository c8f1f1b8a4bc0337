import { Secret } from '../secret.ts';
import type { BooksPlace } from './books-target.ts';
import { decodeUrlPart } from './decode-url-part.ts';
import { parseEndpoint } from './parse-endpoint.ts';

const PORT = 5432;
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
/** What may follow the `?`. None of these is a secret. */
const OPTIONS = ['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'];

interface UrlParts {
  readonly scheme: string;
  readonly credentials: string | undefined;
  readonly host: string;
  readonly database: string;
  readonly query: string | undefined;
}

/**
 * Reads where the books are:
 *
 *   postgres://[user[:password]@]host[:5432]/database[?sslmode=…]
 *   postgres://[user[:password]@]/database?host=/folder/of/the/socket
 *
 * No message repeats any part of the URL: if a URL does not parse, it is unknown where its password
 * ends.
 */
export function parseBooksUrl(text: string): BooksPlace {
  if (/[\s\p{Cc}\p{Cs}]/u.test(text)) {
    throw new Error('must not contain white space or control characters');
  }
  const { credentials = '', host, database, query } = splitUrl(text);
  for (const part of [...credentials.split(':'), database]) decodeUrlPart(part);
  if (database === '') throw new Error('must name a database, as in /tollgate');
  const socketFolder = readOptions(query).get('host');
  if (socketFolder === undefined) checkHost(host);
  else if (host !== '') throw new Error('names its host twice: before the database and after ?');
  else if (!socketFolder.startsWith('/')) {
    throw new Error('host= must be the folder of a unix socket, which begins with /');
  }
  return { kind: 'postgres', url: new Secret(text) };
}

/** Writes the URL with a mask in place of the password. */
export function formatBooksUrl(url: Secret): string {
  const { scheme, credentials, host, database, query } = splitUrl(url.reveal());
  const [user = '', password] = (credentials ?? '').split(':');
  const shown = password === undefined ? user : `${user}:${url}`;
  const auth = credentials === undefined ? '' : `${shown}@`;
  return `${scheme}://${auth}${host}/${database}${query === undefined ? '' : `?${query}`}`;
}

function splitUrl(text: string): UrlParts {
  const match = /^(postgres(?:ql)?):\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (match === null) {
    throw new Error('must be a URL such as postgres://user:password@host:5432/tollgate');
  }
  const [, scheme = '', authority = '', database = '', query] = match;
  const at = authority.lastIndexOf('@');
  const credentials = at === -1 ? undefined : authority.slice(0, at);
  const isUnclear =
    /[/@]/.test(database) || query?.includes('@') === true || /@|:.*:/.test(credentials ?? '');
  if (isUnclear) {
    throw new Error(
      'the characters : / ? # @ and % in a user or a password must be percent-encoded',
    );
  }
  return { scheme, credentials, host: authority.slice(at + 1), database, query };
}

function checkHost(text: string): void {
  if (text === '') throw new Error('must name a host, or the folder of a unix socket as ?host=');
  const namesPort = !/^(\[[^\]]*\]|[^:]*)$/.test(text);
  parseEndpoint(namesPort ? text : `${text}:${PORT}`);
}

function readOptions(query: string | undefined): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  for (const option of query === undefined ? [] : query.split('&')) {
    const [name = '', value = ''] = option.split('=');
    if (!OPTIONS.includes(name)) {
      throw new Error(`the options after ? are ${OPTIONS.join(', ')}`);
    }
    options.set(name, decodeUrlPart(value));
  }
  const mode = options.get('sslmode');
  if (mode !== undefined && !SSL_MODES.includes(mode)) {
    throw new Error(`sslmode= must be one of ${SSL_MODES.join(', ')}`);
  }
  return options;
}
