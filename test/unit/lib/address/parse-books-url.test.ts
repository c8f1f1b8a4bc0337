import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBooksUrl, parseBooksUrl } from '../../../../src/lib/address/parse-books-url.ts';

function shown(text: string): string {
  const target = parseBooksUrl(text);
  if (target.kind !== 'postgres') throw new Error('the target is not a server');
  expect(target.url.reveal()).toBe(text);
  return formatBooksUrl(target.url);
}

describe('parseBooksUrl', () => {
  it('takes the address of a server as it is', () => {
    for (const url of [
      'postgres://db/tollgate',
      'postgresql://me@db:6543/tollgate',
      'postgres://[::1]:5432/t?sslmode=verify-full&sslrootcert=/ca.pem',
      'postgres://me@/t?host=/run/postgresql',
    ]) {
      expect(shown(url)).toBe(url);
    }
  });

  it('shows a mask in place of the password', () => {
    expect(shown('postgres://me:top@db/t')).toBe('postgres://me:*****@db/t');
    expect(shown('postgres://:top@db/t?sslmode=require')).toBe(
      'postgres://:*****@db/t?sslmode=require',
    );
    expect(shown('postgres://me:@db/t')).toBe('postgres://me:*****@db/t');
  });

  it.each([
    ['', 'must be a URL such as postgres://'],
    ['redis://h/0', 'must be a URL such as postgres://'],
    ['postgres://h/t#x', 'must be a URL such as postgres://'],
    ['postgres://h', 'must name a database'],
    ['postgres://h/', 'must name a database'],
    ['postgres:///t', 'must name a host'],
    ['postgres://me@/t', 'must name a host'],
    ['postgres://a,b/t', 'the host must be a name'],
    ['postgres://h:0/t', 'the port must be a whole number'],
    ['postgres://h/t/u', 'must be percent-encoded'],
    ['postgres://me:a@b@h/t', 'must be percent-encoded'],
    ['postgres://me:a:b@h/t', 'must be percent-encoded'],
    ['postgres://me:a/b@h/t', 'must be percent-encoded'],
    ['postgres://me:a?b@h/t', 'must be percent-encoded'],
    ['postgres://me:%zz@h/t', 'a % must begin a percent-encoded character'],
    ['postgres://me:a b@h/t', 'white space'],
    ['postgres://h/t?password=top', 'the options after ? are host, sslmode'],
    ['postgres://h/t?sslmode=on', 'sslmode= must be one of'],
    ['postgres://h/t?host=/run', 'names its host twice'],
    ['postgres:///t?host=other', 'which begins with /'],
  ])('refuses %s', (url, problem) => {
    expect(() => parseBooksUrl(url)).toThrow(problem);
  });

  it('never repeats a part of the URL in a message', () => {
    const secret = fc.stringMatching(/^zq[a-zA-Z0-9:/?#@%& ]{6,30}$/);
    let refusals = 0;
    fc.assert(
      fc.property(secret, (text) => {
        const pieces = text.split(/[:/?#@%& ]/).filter(({ length }) => length >= 4);
        for (const url of [`postgres://me:${text}@h/t`, `postgres://${text}`, text]) {
          try {
            shown(url);
          } catch (error) {
            refusals += 1;
            const { message } = error as Error;
            for (const piece of pieces) expect(message).not.toContain(piece);
          }
        }
      }),
    );
    expect(refusals).toBeGreaterThan(0);
  });
});
