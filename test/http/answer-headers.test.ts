import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';

const ADDED = { 'x-first': 'added', 'x-second': 'added' };
const FIRST = { status: 200, headers: { 'x-first': 'own' } };
const SECOND = { status: 200, headers: { 'x-second': 'own' } };

let target: TestServer;

beforeAll(async () => {
  target = await startTestServer({
    'GET /first': (exchange) => {
      exchange.addHeaders(ADDED);
      exchange.answer(FIRST, '');
    },
    'GET /second': (exchange) => {
      exchange.addHeaders(ADDED);
      exchange.answer(SECOND, '');
    },
    'GET /strange': (exchange) => {
      exchange.addHeaders({ 'x-first': 'a\r\nx-injected: 1', 'x-second': 'tab\tand \xfc' });
      exchange.answer({ status: 200, headers: { 'x-third': `${'b'.repeat(40)}\u007f!` } }, '');
    },
  });
});
afterAll(() => target.server.close());

const ask = async (path: string) => (await fetch(`${target.url}${path}`)).headers;

describe('the headers of an answer', () => {
  it('are those of the handler before those that were added, whatever the answer before had', async () => {
    for (const [path, first, second] of [
      ['/first', 'own', 'added'],
      ['/first', 'own', 'added'],
      ['/second', 'added', 'own'],
      ['/first', 'own', 'added'],
    ] as const) {
      const headers = await ask(path);
      expect([headers.get('x-first'), headers.get('x-second')], path).toEqual([first, second]);
    }
  });

  it('lose what could begin another one, short or long', async () => {
    const headers = await ask('/strange');
    expect(headers.get('x-first')).toBe('ax-injected: 1');
    expect(headers.get('x-second')).toContain('tab\tand ');
    expect(headers.get('x-third')).toBe(`${'b'.repeat(40)}!`);
    expect(headers.has('x-injected')).toBe(false);
  });
});
