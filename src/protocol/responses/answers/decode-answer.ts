import type { InferenceEvent, Usage } from '../../inference.ts';
import { type Json, parseUpstreamJson } from '../../json/upstream-json.ts';
import type { Sealer } from '../../sealed-reasoning.ts';
import { checkStatus } from './decode-ending.ts';
import { decodeResponse } from './decode-stream.ts';
import { decodeUsage } from './decode-usage.ts';

/** Decodes an answer that is not a stream. */
export function decodeResponsesAnswer(
  body: string,
  seal: Sealer | undefined,
): readonly InferenceEvent[] {
  return decodeResponse(parseUpstreamJson(body), seal);
}

/** The members of an answer from which its usage can be read. */
export const USAGE_MEMBERS = ['error', 'status', 'usage'];

/** Reads only the usage of an answer. */
export function readResponsesUsage(answer: Json): Usage | undefined {
  checkStatus(answer);
  return decodeUsage(answer['usage']);
}
