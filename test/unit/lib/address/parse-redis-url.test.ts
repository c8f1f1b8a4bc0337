import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRedisUrl, parseRedisUrl } from '../../../../src/lib/address/parse-redis-url.ts';
import type { RedisTarget } from '../../../../src/lib/address/redis-target.ts';

const noAuth = { username: undefined, password: undefined };

function credentialsOf(target: RedisTarget) {
  return [target.auth.username, target.auth.password?.reveal()];
}

function messageOf(url: string): string {
  try {
    parseRedisUrl(url);
  } catch (error) {
    expect((error as Error).constructor).toBe(Error);
    expect((error as Error).message).not.toBe('');
    return (error as Error).message;
  }
  return '';
}

describe('parseRedisUrl', () => {
  it('reads one server, with and without TLS', () => {
    const endpoint = { kind: 'tcp', host: 'cache', port: 6379 };
    const plain = { topology: 'standalone', endpoint, tls: false, auth: noAuth, database: 0 };
    expect(parseRedisUrl('redis://cache')).toEqual(plain);
    expect(parseRedisUrl('redis://cache:6379/')).toEqual(plain);
    expect(parseRedisUrl('redis://cache/3')).toEqual({ ...plain, database: 3 });
    expect(parseRedisUrl('rediss://[::1]:7000')).toEqual({
      ...plain,
      tls: true,
      endpoint: { kind: 'tcp', host: '::1', port: 7000 },
    });
    expect(parseRedisUrl('redis://[::1]')).toMatchObject({ endpoint: { host: '::1', port: 6379 } });
    expect(parseRedisUrl('redis://unix:6400')).toMatchObject({
      endpoint: { host: 'unix', port: 6400 },
    });
  });

  it('reads a unix socket', () => {
    expect(parseRedisUrl('unix:///run/my%20redis.sock?db=2')).toEqual({
      topology: 'standalone',
      endpoint: { kind: 'unix', path: '/run/my redis.sock' },
      tls: false,
      auth: noAuth,
      database: 2,
    });
  });

  it('reads sentinels with the name of the master', () => {
    expect(parseRedisUrl('redis-sentinel://a:26380,b,[fe80::1]/mymaster?db=1')).toEqual({
      topology: 'sentinel',
      sentinels: [
        { kind: 'tcp', host: 'a', port: 26_380 },
        { kind: 'tcp', host: 'b', port: 26_379 },
        { kind: 'tcp', host: 'fe80::1', port: 26_379 },
      ],
      masterName: 'mymaster',
      tls: false,
      auth: noAuth,
      database: 1,
    });
    expect(parseRedisUrl('rediss-sentinel://a/m').tls).toBe(true);
  });

  it('reads the nodes of a cluster', () => {
    expect(parseRedisUrl('redis-cluster://a:7000,b')).toEqual({
      topology: 'cluster',
      nodes: [
        { kind: 'tcp', host: 'a', port: 7000 },
        { kind: 'tcp', host: 'b', port: 6379 },
      ],
      tls: false,
      auth: noAuth,
    });
    expect(parseRedisUrl('rediss-cluster://a').tls).toBe(true);
  });

  it('decodes user and password', () => {
    expect(credentialsOf(parseRedisUrl('redis://me:p%40ss%2Fw@h'))).toEqual(['me', 'p@ss/w']);
    expect(credentialsOf(parseRedisUrl('redis://:a:b@h'))).toEqual([undefined, 'a:b']);
    expect(credentialsOf(parseRedisUrl('unix://:pw@/x'))).toEqual([undefined, 'pw']);
  });

  it.each([
    ['', 'must be a URL'],
    ['cache:6379', 'must be a URL'],
    ['http://cache', 'must be a URL'],
    ['redis+sentinel://cache', 'must be a URL'],
    ['constructor://cache', 'must be a URL'],
    ['redis://cache#0', 'must be a URL'],
    ['redis:// cache', 'white space'],
    ['redis://', 'the host must be'],
    ['redis://a,b', 'the host must be'],
    ['redis://h:0', 'the port must be'],
    ['redis://h/x', 'the database must be'],
    ['redis://h/01', 'the database must be'],
    ['redis://h/2147483648', 'the database must be'],
    ['redis://h?db=1', 'belongs in the path'],
    ['redis://word@h', 'a password must be given as'],
    ['redis://me:@h', 'the password is empty'],
    ['redis://:100%@h', 'percent-encoded'],
    ['redis://:pass/word@h', 'must be percent-encoded'],
    ['redis://:pass?word@h', 'must be percent-encoded'],
    ['unix://h/x', 'names no host'],
    ['unix://', 'must begin with /'],
    ['unix:///x?timeout=1', 'db=N'],
    ['redis-sentinel://h', 'name of the master'],
    ['redis-sentinel://h/a/b', 'name of the master'],
    ['redis-sentinel://h,/m', 'the host must be'],
    ['redis-cluster://h/0', 'no numbered databases'],
    ['redis-cluster://h?db=0', 'no numbered databases'],
    [`redis-cluster://${Array(65).fill('h').join(',')}`, 'at most 64 hosts'],
  ])('refuses %j', (url, message) => {
    expect(messageOf(url)).toContain(message);
  });

  it('never repeats a password, whatever is wrong with the URL', () => {
    const scheme = fc.constantFrom('redis', 'rediss-cluster', 'redis-sentinel', 'unix', 'http', '');
    const separator = fc.constantFrom('', '@', '/', '?', '#', ':', '%', ' ', '\n', ',');
    const end = fc.constantFrom('@h', '@h:99999', '@', '', '@h/x', '/m?db=z', '@h,/m', '@[::x]');
    const piece = fc.stringMatching(/^[a-z]{12}$/).map((text) => `zq${text}`);
    fc.assert(
      fc.property(scheme, piece, separator, piece, end, (scheme, head, separator, tail, end) => {
        const message = messageOf(`${scheme}://:${head}${separator}${tail}${end}`);
        expect(message).not.toContain(head);
        expect(message).not.toContain(tail);
      }),
      { numRuns: 500 },
    );
  });

  it('either returns or throws an Error with a message, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('redis://', 'unix://', ''),
        fc.string({ unit: 'binary' }),
        (scheme, rest) => {
          messageOf(scheme + rest);
        },
      ),
    );
  });
});

describe('formatRedisUrl', () => {
  it('masks the password and nothing else', () => {
    expect(formatRedisUrl(parseRedisUrl('rediss://a%40b:secret@[::1]/4'))).toBe(
      'rediss://a%40b:*****@[::1]:6379/4',
    );
    expect(formatRedisUrl(parseRedisUrl('redis-sentinel://:secret@h/m'))).toBe(
      'redis-sentinel://:*****@h:26379/m?db=0',
    );
  });

  it('writes a URL that reads as the same target', () => {
    const host = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV6().map((ip) => `[${ip}]`),
    );
    const hosts = fc.array(host, { minLength: 1, maxLength: 4 }).map((list) => list.join(','));
    const database = fc.nat();
    const anyUrl = fc.oneof(
      fc.tuple(host, database).map(([host, db]) => `redis://${host}/${db}`),
      fc.tuple(hosts, database).map(([hosts, db]) => `rediss-sentinel://${hosts}/m-1.x?db=${db}`),
      hosts.map((hosts) => `redis-cluster://${hosts}`),
      fc
        .string({ unit: 'grapheme', maxLength: 12 })
        .map((name) => `unix:///${encodeURIComponent(name)}`),
    );
    fc.assert(
      fc.property(anyUrl, (url) => {
        fc.pre(!url.includes('%00') && url.length < 90);
        const target = parseRedisUrl(url);
        expect(parseRedisUrl(formatRedisUrl(target))).toEqual(target);
      }),
    );
  });
});
