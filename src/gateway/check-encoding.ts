import { nameKind } from '../protocol/fields/refuse-kind.ts';
import type { HeaderSource } from '../protocol/format.ts';
import { Refusal } from '../protocol/refusals.ts';

/** A compressed body would have to be unpacked before anybody knows how large it is. */
export function checkEncoding(header: HeaderSource): void {
  const encoding = header('content-encoding');
  if (encoding === undefined || /^(identity)?$/i.test(encoding.trim())) return;
  const message = `content-encoding: ${nameKind(encoding)} is not taken, send the body uncompressed`;
  throw new Refusal('body_compressed', message, { headers: { 'accept-encoding': 'identity' } });
}
