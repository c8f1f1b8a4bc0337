import { describe, expect, it } from 'vitest';
import { createRouteTable, type HttpRoute } from '../../../../src/http/routes/route-table.ts';
import { encodeHybridRefusal } from '../../../../src/protocol/encode-hybrid-refusal.ts';

const route = (method: HttpRoute['method'], path: string): HttpRoute => ({
  method,
  path,
  timeMaxMs: 1,
  encodeRefusal: encodeHybridRefusal,
  handle: () => {},
});

const info = route('GET', '/v1/models/info');
const one = route('GET', '/v1/models/*');
const send = route('POST', '/v1/messages');
const table = createRouteTable([info, one, send]);

describe('the route table', () => {
  it('prefers a path of its own to one that takes any segment', () => {
    expect(table.find('GET', '/v1/models/info')).toBe(info);
    expect(table.find('GET', '/v1/models/llm-opus-4.7')).toBe(one);
    expect(table.find('HEAD', '/v1/models/haiku')).toBe(one);
  });

  it('takes one segment or several, and not an empty one at the end', () => {
    expect(table.find('GET', '/v1/models/a/b')).toBe(one);
    expect(table.find('GET', '/v1/models/')).toEqual({ allowed: [] });
    expect(table.find('GET', '/v1/models/a/')).toEqual({ allowed: [] });
    expect(table.find('GET', '/v1/models')).toEqual({ allowed: [] });
    expect(table.find('GET', '/v1/messages/x')).toEqual({ allowed: [] });
  });

  it('tells what a path allows', () => {
    expect(table.find('GET', '/v1/messages')).toEqual({ allowed: ['POST'] });
    expect(table.find('POST', '/v1/models/x')).toEqual({ allowed: ['GET', 'HEAD'] });
  });

  it('refuses two routes for the same request', () => {
    expect(() => createRouteTable([send, send])).toThrow('two routes for POST /v1/messages');
  });
});
