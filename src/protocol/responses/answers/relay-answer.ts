import { tallyDeltas } from '../../answers/count-content-bytes.ts';
import { isVendorCost } from '../../answers/hide-costs.ts';
import { outlineAnswer } from '../../answers/outline-answer.ts';
import type { Usage } from '../../inference.ts';
import { type KeepMember, spliceJson } from '../../json/splice-json.ts';
import { type Json, readUpstreamBody } from '../../json/upstream-json.ts';
import type { RelayedAnswer } from '../../sse/relayed-answer.ts';
import { isIncomplete } from './decode-ending.ts';
import { decodeResponse } from './decode-stream.ts';
import { decodeUsage } from './decode-usage.ts';
import {
  describeResponse,
  fillIn,
  type MendTerms,
  mendOutput,
  mendResponse,
  mendUsage,
} from './mending/mend-response.ts';
import { responseContextOf } from './response-object.ts';

/**
 * Returns an upstream's answer for a client of the same format: all of it, including unknown
 * fields. Without usage, all events are returned, and the answer has to be re-encoded with an
 * estimate. The same goes for an answer that was filtered, because clients would repeat the
 * request.
 */
export function relayResponsesAnswer(body: Buffer, terms: MendTerms): RelayedAnswer {
  const answer = readUpstreamBody(body);
  const { value } = answer;
  const { toolNames } = responseContextOf(terms.context);
  const all = decodeResponse(value, undefined, toolNames);
  const { output } = value;
  const last = all.at(-1);
  const isRefused = last?.type === 'finish' && last.stopReason === 'refusal';
  const isFiltered = isRefused && isIncomplete(value);
  if (decodeUsage(value['usage']) === undefined || !Array.isArray(output) || isFiltered) {
    const events = decodeResponse(value, terms.seal, toolNames);
    return { events, contentBytes: 0, closing: undefined };
  }
  const { events: others, contentBytes } = tallyDeltas(all);
  const events = outlineAnswer(others);
  const mended = mendOutput(output, terms);
  const closing = (usage: Usage) => {
    const written = {
      ...fillIn(value, terms),
      ...describeResponse(terms),
      usage: mendUsage(value, usage),
      ...(mended === output ? {} : { output: mended }),
    };
    const isKept: KeepMember = (name) => !Object.hasOwn(written, name) && !isVendorCost(name);
    const members = JSON.stringify(written).slice(1, -1);
    return spliceJson(answer, members, isKept) ?? writeAnew(value, written, terms);
  };
  return { events, contentBytes, closing };
}

/** The slow way, for names that `spliceJson` cannot handle. */
function writeAnew(value: Json, written: Json, terms: MendTerms): Buffer {
  return Buffer.from(JSON.stringify({ ...mendResponse(value, terms), ...written }));
}
