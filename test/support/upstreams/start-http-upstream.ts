import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CleanUp } from '../create-temp-dir.ts';

export interface UpstreamRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpUpstream {
  readonly url: string;
  readonly requests: UpstreamRequest[];
}

export interface HttpUpstreamOptions {
  readonly answer?: (request: UpstreamRequest, response: ServerResponse) => void;
  readonly cleanUp: CleanUp;
}

export const UPSTREAM_ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'vendor-name',
  content: [{ type: 'text', text: 'Hello there' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: {
    input_tokens: 12,
    output_tokens: 34,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 7,
  },
};

/** A backend of the native format over plain HTTP that records its requests. */
export async function startHttpUpstream(options: HttpUpstreamOptions): Promise<HttpUpstream> {
  const answer =
    options.answer ??
    ((_request: UpstreamRequest, response: ServerResponse) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(UPSTREAM_ANSWER));
    });
  const requests: UpstreamRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      const asked = { headers: request.headers, body };
      requests.push(asked);
      answer(asked, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  options.cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests };
}
