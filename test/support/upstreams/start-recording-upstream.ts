import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CleanUp } from '../create-temp-dir.ts';
import { wholeBody } from './upstream-answers.ts';

export type RecordedBody = Readonly<Record<string, unknown>>;

export interface RecordedRequest {
  readonly method: string;
  /** The path, including its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: RecordedBody;
}

export interface RecordingUpstream {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** The body of the last client request. */
  lastBody(): RecordedBody;
}

export interface Reply {
  readonly type: string;
  readonly body: string;
}

/** The answer of a server of the path's format. By default it reports success. */
export type Answering = (request: RecordedRequest) => Reply | undefined;

/** A server of all formats, under any path, that records its requests. */
export async function startRecordingUpstream(
  cleanUp: CleanUp,
  answering: Answering = () => undefined,
): Promise<RecordingUpstream> {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const body = text === '' ? {} : (JSON.parse(text) as RecordedBody);
      const recorded = { method, path, headers, body };
      requests.push(recorded);
      const reply = answering(recorded) ?? answerPlainly(path);
      response.writeHead(200, { 'content-type': reply.type });
      response.end(reply.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    lastBody: () => requests.findLast(({ method }) => method === 'POST')?.body ?? {},
  };
}

function answerPlainly(path: string): Reply {
  const kind = path.split('?')[0]?.endsWith('/messages') ? 'native' : 'chat';
  return { type: 'application/json', body: wholeBody(kind, 'Yes.', { input: 12, output: 3 }) };
}
