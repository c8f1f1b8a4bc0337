import { afterEach, describe, expect, it } from 'vitest';
import { measureCork } from '../../src/http/answer-head.ts';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';

/** Builds of uWS lose bytes when more than this meets a full socket. */
const CORK_BYTES = 16_384;
/** What may stay free: so much is set aside for what uWS adds and for the longest status. */
const SLACK_BYTES_MAX = 640;
const REQUEST_ID = 'req_021Zizf26RcBHVXiAyeWnMxE';

let target: TestServer;
afterEach(() => target.server.close());

const headersOf = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-header-${i}`, value]));

describe('an answer that fills what is sent at once', () => {
  for (const kind of ['plain', 'stream', 'stream that ends with it'] as const) {
    for (const [what, headers] of [
      ['no headers', {}],
      ['a few headers', headersOf(5, 'of some length')],
      ['letters of two and three bytes', headersOf(10, 'é€'.repeat(20))],
      ['many headers', headersOf(60, 'x'.repeat(40))],
    ] as const) {
      it(`is no longer than that, and hardly shorter, head included [${kind}, ${what}]`, async () => {
        const head = { status: 200, headers };
        const complete = { ...head, requestId: REQUEST_ID, addedHeaders: [] };
        const room = measureCork(complete, CORK_BYTES - 1_000);
        target = await startTestServer({
          'GET /answer': (exchange) => {
            const body = 'y'.repeat(room);
            if (kind === 'plain') {
              exchange.answer(head, body);
              return;
            }
            const stream = exchange.startStream(head);
            if (kind === 'stream') void stream.write(body);
            else void stream.writeLast(body);
            stream.endStream();
          },
        });
        const connection = await openRawConnection(target.port);
        connection.send('GET /answer HTTP/1.1\r\nHost: a\r\n\r\n');
        const end = kind === 'plain' ? '' : '\\r\\n0\\r\\n\\r\\n';
        await connection.waitFor(new RegExp(`y{${room}}${end}$`));
        expect(connection.received().length).toBeLessThanOrEqual(CORK_BYTES);
        expect(connection.received().length).toBeGreaterThan(CORK_BYTES - SLACK_BYTES_MAX);
        connection.destroy();
      });
    }
  }
});
