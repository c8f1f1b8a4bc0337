import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../src/lib/address/endpoint.ts';
import { formatEndpoint, parseEndpoint } from '../../../../src/lib/address/parse-endpoint.ts';

const anyPort = fc.integer({ min: 1, max: 65_535 });
const anyHost = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6());
const anySocketPath = fc
  .string({ unit: 'grapheme-ascii', maxLength: 106 })
  .map((rest) => `/${rest}`);
const anyEndpoint: fc.Arbitrary<Endpoint> = fc.oneof(
  fc.record({ kind: fc.constant('tcp' as const), host: anyHost, port: anyPort }),
  fc.record({ kind: fc.constant('unix' as const), path: anySocketPath }),
);

describe('parseEndpoint', () => {
  it('reads names, addresses and unix sockets', () => {
    expect(
      [
        '0.0.0.0:8080',
        'localhost:1',
        'redis_1.net:65535',
        '[::1]:8080',
        '[::ffff:10.0.0.1]:80',
        '[1:2:3:4:5:6:7:8]:80',
        'unix:/run/tollgate.sock',
        'unix:8080',
      ].map(parseEndpoint),
    ).toEqual([
      { kind: 'tcp', host: '0.0.0.0', port: 8080 },
      { kind: 'tcp', host: 'localhost', port: 1 },
      { kind: 'tcp', host: 'redis_1.net', port: 65_535 },
      { kind: 'tcp', host: '::1', port: 8080 },
      { kind: 'tcp', host: '::ffff:10.0.0.1', port: 80 },
      { kind: 'tcp', host: '1:2:3:4:5:6:7:8', port: 80 },
      { kind: 'unix', path: '/run/tollgate.sock' },
      { kind: 'tcp', host: 'unix', port: 8080 },
    ]);
  });

  it.each([
    ['', 'must be host:port'],
    ['8080', 'must be host:port'],
    ['::1:8080', 'must be host:port'],
    ['http://host:80', 'must be host:port'],
    [':8080', 'the host must be'],
    ['ho st:80', 'the host must be'],
    ['-a:80', 'the host must be'],
    ['1.2.3:80', 'the host must be'],
    ['256.0.0.1:80', 'the host must be'],
    ['[]:80', 'the host must be'],
    ['[1.2.3.4]:80', 'the host must be'],
    ['[1::2::3]:80', 'the host must be'],
    ['[1:2:3:4:5:6:7]:80', 'the host must be'],
    ['[1:2:3:4:5:6:7:8::]:80', 'the host must be'],
    ['[:1::2]:80', 'the host must be'],
    ['[12345::]:80', 'the host must be'],
    [`${'a'.repeat(64)}:80`, 'the host must be'],
    ['host:', 'the port must be'],
    ['host:0', 'the port must be'],
    ['host:080', 'the port must be'],
    ['host:65536', 'the port must be'],
    ['host:8o', 'the port must be'],
    ['unix:', 'must begin with /'],
    ['unix:run/x.sock', 'must begin with /'],
    ['unix:/a\0b', 'zero byte'],
  ])('refuses %j', (text, message) => {
    expect(() => parseEndpoint(text)).toThrow(message);
  });

  it('counts the path of a unix socket in bytes, at most 107', () => {
    expect(parseEndpoint(`unix:/${'a'.repeat(106)}`).kind).toBe('unix');
    expect(() => parseEndpoint(`unix:/${'a'.repeat(107)}`)).toThrow('at most 107 bytes');
    expect(() => parseEndpoint(`unix:/${'é'.repeat(54)}`)).toThrow('at most 107 bytes');
  });

  it('gives back what formatEndpoint wrote', () => {
    fc.assert(
      fc.property(anyEndpoint, (endpoint) => {
        expect(parseEndpoint(formatEndpoint(endpoint))).toEqual(endpoint);
      }),
    );
  });

  it('either returns or throws an Error with a message, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isSocket) => {
        try {
          parseEndpoint(isSocket ? `unix:${text}` : text);
        } catch (error) {
          expect((error as Error).constructor).toBe(Error);
          expect((error as Error).message).not.toBe('');
        }
      }),
    );
  });
});
