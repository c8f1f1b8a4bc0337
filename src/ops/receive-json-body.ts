import type { IncomingMessage } from 'node:http';
import { OpsProblem } from './ops-problem.ts';

const BODY_BYTES_MAX = 64 * 1024;
/**
 * Up to this much is read and discarded, because a client that is still sending may not read its
 * answer. It is ten times the longest body of any route.
 */
const DISCARDED_BYTES_MAX = 8 * 1024 ** 2;

/** A missing body counts as an object without fields. */
export async function receiveJsonBody(
  request: IncomingMessage,
  bytesMax = BODY_BYTES_MAX,
): Promise<unknown> {
  const { headers } = request;
  if (Number(headers['content-length'] ?? 0) > DISCARDED_BYTES_MAX) throw refuseLength(bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES_MAX) throw refuseLength(bytesMax);
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  if (bytes > bytesMax) throw refuseLength(bytesMax);
  if (bytes === 0) return {};
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new OpsProblem(415, 'not_json', 'the content-type must be application/json');
  }
  return parseJson(Buffer.concat(chunks));
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new OpsProblem(400, 'invalid_json', 'the body is not JSON in UTF-8', { cause });
  }
}

function refuseLength(bytesMax: number): OpsProblem {
  const message = `the body has more than ${bytesMax} bytes`;
  return new OpsProblem(413, 'body_too_large', message, { headers: { connection: 'close' } });
}
