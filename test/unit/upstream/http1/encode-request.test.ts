import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../../../src/upstream/http1/encode-request.ts';
import {
  encodeOriginLines,
  encodeRequestHead,
  HeaderLines,
} from '../../../../src/upstream/http1/encode-request.ts';

const HEADERS = ['content-type', 'application/json', 'x-api-key', 'secret'];
const linesOf = (host: string) => encodeOriginLines({ protocol: 'http:', host, port: 80 });

describe('headers that many requests have', () => {
  const requests: readonly (readonly [Omit<HttpRequest, 'headers'>, string])[] = [
    [{ method: 'POST', path: '/a', body: [Buffer.from('1')] }, linesOf('one.example')],
    [
      { method: 'POST', path: '/a', body: [Buffer.from('2'), Buffer.from('2')] },
      linesOf('one.example'),
    ],
    [{ method: 'POST', path: '/b', body: [Buffer.from('22')] }, linesOf('one.example')],
    [{ method: 'GET', path: '/b', body: undefined }, linesOf('one.example')],
    [{ method: 'GET', path: '/b', body: undefined }, linesOf('two.example')],
    [{ method: 'POST', path: '/b', body: undefined }, linesOf('two.example')],
  ];

  it('are in each of them as if it were the only one', () => {
    const shared = new HeaderLines(HEADERS);
    for (const [request, lines] of requests) {
      expect(encodeRequestHead({ ...request, headers: shared }, lines)).toBe(
        encodeRequestHead({ ...request, headers: HEADERS }, lines),
      );
    }
  });

  it('do not let a path through that is none', () => {
    const shared = new HeaderLines(HEADERS);
    const lines = linesOf('one.example');
    for (const path of ['/a', '', 'a', '/a b', '/a\r\n', '/ä']) {
      const encode = () =>
        encodeRequestHead({ method: 'GET', path, headers: shared, body: undefined }, lines);
      if (path === '/a') expect(encode()).toContain('GET /a HTTP/1.1\r\n');
      else expect(encode, path).toThrow('a path must begin');
    }
  });
});
