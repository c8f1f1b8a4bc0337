import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface HeldServer {
  readonly url: string;
  /** The number of requests so far, without requests about the key itself. */
  asked(): number;
  /** Holds answers back from now on. */
  hold(): void;
  /** Sends the answers that were held back. Later answers are sent at once. */
  release(): void;
}

const KEY = { object: 'key', month: '202601', spent_this_month: 1, held: 0 };

interface HeldServerOptions {
  /** Runs when a request has arrived, before its answer. */
  readonly onAsked?: (asked: number, server: HeldServer) => void;
  /** What successive requests about the key are told. The last answer repeats for ever. */
  readonly keyAnswers?: readonly Partial<typeof KEY>[];
}

/**
 * A server that answers every request with 200, at once or when told to, and describes any key as
 * valid.
 */
export async function startHeldServer({
  onAsked,
  keyAnswers = [],
}: HeldServerOptions = {}): Promise<HeldServer> {
  const nextKeyAnswers = [...keyAnswers];
  let keyAnswer: Partial<typeof KEY> = {};
  let asked = 0;
  let held: ServerResponse[] | undefined;
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === '/v1/key') {
      keyAnswer = nextKeyAnswers.shift() ?? keyAnswer;
      response.end(JSON.stringify({ ...KEY, ...keyAnswer }));
      return;
    }
    asked += 1;
    onAsked?.(asked, self);
    if (held === undefined) response.end('{}');
    else held.push(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const self: HeldServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    hold() {
      held ??= [];
    },
    release() {
      for (const response of held ?? []) response.end('{}');
      held = undefined;
    },
  };
  return self;
}
