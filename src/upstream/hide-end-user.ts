import { createHash } from 'node:crypto';
import { readObject, readText } from '../protocol/json/upstream-json.ts';
import type { UpstreamCall } from '../protocol/upstream-call.ts';

/**
 * Names the end user of a client of another format by a digest. Clients send addresses and numbers
 * there, which native vendors refuse, and names that are too long for them.
 */
export function hideEndUser(call: UpstreamCall): UpstreamCall {
  const { request, source } = call;
  const name = readText(readObject(request.passedOn, 'metadata'), 'user_id');
  if (source !== undefined || name === undefined) return call;
  const metadata = { user_id: createHash('sha256').update(name).digest('hex') };
  return { ...call, request: { ...request, passedOn: { ...request.passedOn, metadata } } };
}
