/** `uws-proxy-main.js PORT UPSTREAM_PORT`: forwards every POST without looking at it. */
import { loadUws, type UwsResponse } from '../../../src/http/load-uws.ts';
import { createHttpClient } from '../../../src/upstream/http1/create-http-client.ts';

const CONNECTIONS_MAX = 16_000;
const CONNECT_TIMEOUT_MS = 5_000;

const [port = 0, upstreamPort = 0] = process.argv.slice(2).map(Number);
const client = createHttpClient({
  origin: { protocol: 'http:', host: '127.0.0.1', port: upstreamPort },
  connectionsMax: CONNECTIONS_MAX,
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  clock: { nowMs: () => Date.now() },
});

/** A small answer is sent in one write. An answer of unknown length is forwarded as it arrives. */
function relay(res: UwsResponse, path: string, body: Uint8Array): void {
  let isOver = false;
  let contentType = '';
  let length: number | undefined;
  const writeHead = () => {
    if (contentType !== '') res.writeHeader('content-type', contentType);
    contentType = '';
  };
  const exchange = client.send(
    { method: 'POST', path, headers: ['content-type', 'application/json'], body: [body] },
    {
      onHead(_status, headers) {
        contentType = headers.get('content-type') ?? 'application/octet-stream';
        length = Number(headers.get('content-length') ?? Number.NaN);
      },
      onData(chunk) {
        const isWhole = chunk.length === length;
        res.cork(() => {
          writeHead();
          if (isWhole) res.end(chunk);
          else res.write(chunk);
        });
        isOver ||= isWhole;
      },
      onEnd() {
        if (!isOver) res.cork(() => res.end());
        isOver = true;
      },
      onFail() {
        if (!isOver) res.close();
        isOver = true;
      },
    },
  );
  res.onAborted(() => {
    if (!isOver) exchange.abort();
    isOver = true;
  });
}

const { uws } = loadUws([]);
const app = uws.App();
app.any('/*', (res, req) => {
  const path = req.getUrl();
  const chunks: Buffer[] = [];
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  res.onData((chunk, isLast) => {
    // The bytes are valid only during this call.
    chunks.push(Buffer.from(Buffer.from(chunk)));
    if (isLast && !isGone)
      relay(
        res,
        path,
        chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks),
      );
  });
});
app.listen('127.0.0.1', port, (token) => {
  if (token === false) throw new Error(`port ${port} is taken`);
});
