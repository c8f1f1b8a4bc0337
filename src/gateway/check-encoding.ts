import { nameKind } from '../protocol/fields/refuse-kind.ts';
import type { HeaderSource } from '../protocol/format.ts';
import { Refusal } from '../protocol/refusals.ts';

const COMPRESSION = /\b(gzip|deflate|compress|br|zstd)\b/i;

/**
 * A compressed body would have to be unpacked before anybody knows how large it is. Some clients
 * name a character set here, which says nothing about the body.
 */
export function checkEncoding(header: HeaderSource): void {
  const encoding = header('content-encoding');
  if (encoding === undefined || !COMPRESSION.test(encoding)) return;
  const message = `content-encoding: ${nameKind(encoding)} is not taken, send the body uncompressed`;
  throw new Refusal('body_compressed', message, { headers: { 'accept-encoding': 'identity' } });
}
