import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../lib/bytes/as-buffer.ts';
import type { DecodeAids, DecodedRequest, HeaderSource, RouteFormat } from '../protocol/format.ts';
import type { AbridgedRequest, InferenceRequest, RequestOutline } from '../protocol/inference.ts';
import { abridgeJson } from '../protocol/json/abridge-json.ts';
import { keepLongNumbers } from '../protocol/json/keep-long-numbers.ts';
import { type JsonBody, readJsonBody } from '../protocol/json/parse-json-body.ts';
import { unifyNames } from '../protocol/json/unify-names.ts';
import { Refusal } from '../protocol/refusals.ts';

/** Reading a smaller body in full takes no longer. */
const ABRIDGED_BYTES_MIN = 8 * 1024;

export interface ClientRequest extends Omit<DecodedRequest, 'request'> {
  readonly request: RequestOutline;
  /** The request with all of its texts. If they were left out, this reads the body again. */
  readonly readWhole: () => InferenceRequest;
  readonly source: JsonBody;
  /** Whether it refers to earlier answers, which were read. */
  readonly hasRecalled?: true;
}

/**
 * Reads and checks a request. If the format allows it, the long texts of a large request stay
 * unread: a body of 1 MB then takes 0.3 to 1.8 ms instead of 3 to 7. Refusals always come from
 * reading the whole request.
 */
export function readRequest(
  body: Uint8Array,
  format: RouteFormat,
  header: HeaderSource,
  mayAbridge: boolean,
  aids: DecodeAids = {},
): ClientRequest {
  const abridged = mayAbridge ? readAbridged(body, format, header) : undefined;
  if (abridged !== undefined) return abridged;
  const source = readBody(body, format);
  const decoded = format.decodeRequest(source.value, header, aids);
  return { ...decoded, source, readWhole: () => keepNumbers(decoded.request, source) };
}

function readBody(body: Uint8Array, format: RouteFormat): JsonBody {
  const read = readJsonBody(body);
  return unifyNames(read, format.knownNames) ?? read;
}

function readAbridged(
  body: Uint8Array,
  format: RouteFormat,
  header: HeaderSource,
): ClientRequest | undefined {
  if (body.length < ABRIDGED_BYTES_MIN || !isUtf8(body)) return undefined;
  const source = abridgeJson(asBuffer(body), format.abridgment);
  if (source === undefined) return undefined;
  const decoded = decodeAbridged(source, format, header);
  if (decoded === undefined || !format.canBeAbridged(source.value)) return undefined;
  let whole: InferenceRequest | undefined;
  return {
    ...decoded,
    request: decoded.request as unknown as AbridgedRequest,
    source,
    readWhole() {
      if (whole !== undefined) return whole;
      const read = readBody(body, format);
      whole = keepNumbers(format.decodeRequest(read.value, header).request, read);
      return whole;
    },
  };
}

/** Called only for a request that is re-encoded: one that is passed on keeps its bytes. */
function keepNumbers(request: InferenceRequest, source: JsonBody): InferenceRequest {
  keepLongNumbers(source, 'messages');
  return request;
}

function decodeAbridged(source: JsonBody, format: RouteFormat, header: HeaderSource) {
  try {
    if (unifyNames(source, format.knownNames) !== source) return undefined;
    return format.decodeRequest(source.value, header);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
