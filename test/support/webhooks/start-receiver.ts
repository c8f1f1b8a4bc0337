import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CleanUp } from '../create-temp-dir.ts';

export interface ReceivedWebhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The parsed body. */
  readonly event: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

export type Answer = (response: ServerResponse, received: ReceivedWebhook) => void;

export interface WebhookReceiver {
  readonly port: number;
  readonly url: string;
  /** Every message that came, whatever it was answered. */
  readonly received: readonly ReceivedWebhook[];
  /** What it answers from now on. */
  answer(answer: Answer): void;
}

export function answerStatus(status: number): Answer {
  return (response) => response.writeHead(status).end();
}

/** A real server that takes webhooks, and answers 204 unless told otherwise. */
export async function startReceiver(cleanUp: CleanUp): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  let answer = answerStatus(204);
  const server = createServer((request, response) => void take(request, response));
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const webhook = {
      headers: request.headers as Record<string, string>,
      body,
      event: JSON.parse(body) as ReceivedWebhook['event'],
    };
    received.push(webhook);
    answer(response, webhook);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    ...{ port, url: `http://127.0.0.1:${port}/hook`, received },
    answer(next) {
      answer = next;
    },
  };
}
