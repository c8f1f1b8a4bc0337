/**
 * FAST TWIN of `pino`.
 * Held equal by `test/unit/log/encode-request-line.test.ts`.
 * Gain: 5.1 to 2.6 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import { measureRequest, type RequestRecord } from '../gateway/request-record.ts';
import { formatCredits } from '../lib/units/micros.ts';
import type { Usage } from '../protocol/inference.ts';
import type { Try } from '../protocol/try.ts';

const PINO_INFO = 30;
const PINO_WARN = 40;
const LAST_CHARS = 4;
const REASON_CHARS_MAX = 200;

/**
 * One line of JSON with the fields that every line of this program's log has. Every text in it is a
 * name from the settings, an id or a word of ours, and needs no escaping, apart from the reason of
 * a failed try. It holds nothing that a client wrote.
 */
export function encodeRequestLine(
  record: RequestRecord,
  { head, isTrouble }: { readonly head: string; readonly isTrouble: boolean },
): string {
  const { requestId, route, trace, model, upstream, tries, isStream, status } = record;
  const { keyId, maskedKey, droppedTools, outcome, refusal, usage } = record;
  let line = `{"level":${isTrouble ? PINO_WARN : PINO_INFO},${head},"requestId":"${requestId}"`;
  if (trace !== undefined) line += `,"traceId":"${trace.traceId}"`;
  line += `,"route":"${route}"`;
  if (keyId !== undefined) line += `,"keyId":"${keyId}"`;
  if (maskedKey !== undefined) line += `,"last4":"${maskedKey.slice(-LAST_CHARS)}"`;
  if (model !== undefined) line += `,"model":"${model}","isStream":${isStream}`;
  if (droppedTools > 0) line += `,"droppedTools":${droppedTools}`;
  if (upstream !== undefined) line += `,"upstream":"${upstream}"`;
  if (tries.length > 0) line += encodeTries(tries);
  if (status !== undefined) line += `,"status":${status}`;
  line += `,"outcome":"${outcome}"`;
  if (refusal !== undefined) line += `,"refusal":"${refusal}"`;
  line += encodeTimes(record);
  if (usage !== undefined) line += encodeUsage(usage, record);
  return `${line},"msg":"request"}\n`;
}

/** What follows the level in all lines of one process at one time. */
export function encodeLineHead(pid: number, from: string, timeMs: number): string {
  return `"time":"${new Date(timeMs).toISOString()}","pid":${pid},"from":"${from}"`;
}

function encodeTries(tries: readonly Try[]): string {
  const each = tries.map(({ upstream, result, reason }) => {
    const why = reason === undefined ? '' : `,"reason":${encodeReason(reason)}`;
    return `{"upstream":"${upstream}","result":"${result}"${why}}`;
  });
  return `,"tries":[${each.join()}]`;
}

/** The system or an upstream may have put a word into it. */
const encodeReason = (reason: string) => JSON.stringify(reason.slice(0, REASON_CHARS_MAX));

function encodeTimes(record: RequestRecord): string {
  const { startedMs, bodyMs, admittedMs, upstreamWaitMs, clientWaitMs } = record;
  const { durationSeconds, overheadSeconds, firstEventSeconds } = measureRequest(record);
  let fields = `,"durationMs":${round(durationSeconds * 1_000)}`;
  if (bodyMs !== undefined) fields += `,"bodyMs":${round(bodyMs - startedMs)}`;
  if (admittedMs !== undefined) fields += `,"admittedMs":${round(admittedMs - startedMs)}`;
  if (firstEventSeconds !== undefined) {
    fields += `,"firstEventMs":${round(firstEventSeconds * 1_000)}`;
  }
  fields += `,"overheadMs":${round(overheadSeconds * 1_000)}`;
  return `${fields},"upstreamWaitMs":${round(upstreamWaitMs)},"clientWaitMs":${round(clientWaitMs)}`;
}

function encodeUsage(
  usage: Usage,
  { chargeMicros, heldMicros, isEstimated }: RequestRecord,
): string {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, thinking, searches } = usage;
  return (
    `,"usage":{"input":${input},"cacheRead":${cacheRead},"cacheWrite5m":${cacheWrite5m}` +
    `,"cacheWrite1h":${cacheWrite1h},"output":${output},"thinking":${thinking}` +
    `${searches > 0 ? `,"searches":${searches}` : ''}}` +
    `,"credits":${formatCredits(chargeMicros)},"held":${formatCredits(heldMicros)}` +
    `,"isEstimated":${isEstimated}`
  );
}

/** Rounds to microseconds: more digits are not known. */
function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
