import { decodeStreamError, reportsError } from '../../answers/decode-upstream-error.ts';
import { hideCosts, isVendorCost, reportsCosts } from '../../answers/hide-costs.ts';
import { NO_USAGE } from '../../answers/no-usage.ts';
import { isSameUsage } from '../../answers/raise-usage.ts';
import type { ContentBlock, InferenceEvent, Usage } from '../../inference.ts';
import { keepLongNumbers } from '../../json/keep-long-numbers.ts';
import type { JsonBody } from '../../json/parse-json-body.ts';
import { type KeepMember, replaceText, spliceJson } from '../../json/splice-json.ts';
import { brokenAnswer, type Json, readObject, readUpstreamBody } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import type { RelayedAnswer } from '../../sse/relayed-answer.ts';
import { writeContent } from '../write-content.ts';
import { countBlockBytes, createBlockDecoder } from './decode-blocks.ts';
import { decodeEnding } from './decode-ending.ts';
import { decodeUsage, reportsUsage } from './decode-usage.ts';
import { mendUsage } from './encode-usage.ts';
import { mendBlocks } from './mend-blocks.ts';

/** Decodes an answer that is not a stream. */
export function decodeNativeAnswer(body: string): readonly InferenceEvent[] {
  return decodePayload(readUpstreamBody(Buffer.from(body)));
}

/**
 * Returns an upstream's answer for a native client: all of it, including unknown fields. Without
 * usage, all events are returned, and the answer has to be re-encoded with an estimate.
 */
export function relayNativeAnswer(body: Buffer, model: string): RelayedAnswer {
  const answer = readUpstreamBody(body);
  const { value } = answer;
  if (!reportsUsage(value['usage'])) {
    return { events: decodePayload(answer), contentBytes: 0, closing: undefined };
  }
  const { start, content, finish } = readAnswer(value);
  const mended = mendBlocks(content);
  const isRight = mended === value['content'];
  if (!isRight) keepLongNumbers(answer, 'content');
  const thoughts: InferenceEvent[] = [];
  let contentBytes = 0;
  for (const block of content) {
    contentBytes += countBlockBytes(block);
    if (isThought(block)) thoughts.push(THOUGHT);
  }
  const closing = (usage: Usage) => {
    if (isRight && !reportsCosts(value) && reportsUsageOf(value, usage)) {
      return replaceText(answer, 'model', model) ?? writeJson({ ...value, model });
    }
    const written = JSON.stringify({ model, usage: mendUsage(value, usage) }).slice(1, -1);
    const members = isRight
      ? written
      : `${written},"content":${writeContent(mended as readonly ContentBlock[])}`;
    const isLeft = isRight ? isKept : isKeptButContent;
    return spliceJson(answer, members, isLeft) ?? mergeJson(value, members);
  };
  return { events: [start, ...thoughts, finish], contentBytes, closing };
}

const isKept: KeepMember = (name) => name !== 'model' && name !== 'usage' && !isVendorCost(name);
const isKeptButContent: KeepMember = (name, fields) => name !== 'content' && isKept(name, fields);

/** The slow way, for names that `spliceJson` cannot handle. */
const mergeJson = (value: Json, members: string) =>
  writeJson({ ...hideCosts(value), ...JSON.parse(`{${members}}`) });

/** Says no more than that the model thought. */
const THOUGHT: InferenceEvent = { type: 'block_start', index: 0, block: { type: 'thinking' } };

function isThought(block: unknown): boolean {
  const type = isObject(block) ? block['type'] : undefined;
  return type === 'thinking' || type === 'redacted_thinking';
}

const writeJson = (value: Json) => Buffer.from(JSON.stringify(value));

/** Whether the answer reports exactly this usage, and no more than a client may know. */
function reportsUsageOf(answer: Json, usage: Usage): boolean {
  const reported = readObject(answer, 'usage');
  const isCounted = reported['input_tokens'] != null && reported['output_tokens'] != null;
  return (
    isCounted && !reportsCosts(reported) && isSameUsage(decodeUsage(reported, NO_USAGE), usage)
  );
}

function decodePayload(answer: JsonBody): readonly InferenceEvent[] {
  keepLongNumbers(answer, 'content');
  const { start, content, finish } = readAnswer(answer.value);
  const blocks = createBlockDecoder();
  const events: InferenceEvent[] = [start];
  for (const block of content) {
    events.push(...blocks.start({ content_block: block }), ...blocks.stop());
  }
  events.push(finish);
  return events;
}

/** Reads only the usage of an answer. */
export function readNativeUsage(answer: Json): Usage | undefined {
  if (answer['type'] === 'error' || reportsError(answer['error'])) throw decodeStreamError(answer);
  const reported = answer['usage'];
  return reportsUsage(reported) ? decodeUsage(reported, NO_USAGE) : undefined;
}

interface AnswerPieces {
  readonly start: InferenceEvent;
  readonly content: readonly unknown[];
  readonly finish: InferenceEvent;
}

function readAnswer(answer: Json): AnswerPieces {
  const reported = readNativeUsage(answer);
  const { id, model } = answer;
  // Some servers write an empty list as `null`.
  const content = answer['content'] === null ? [] : answer['content'];
  if (typeof id !== 'string' || typeof model !== 'string') throw brokenAnswer('it has no id');
  if (!Array.isArray(content)) throw brokenAnswer('it has no content');
  const { stopReason, stopSequence } = decodeEnding(answer);
  return {
    start: { type: 'start', id, model, usage: reported ?? NO_USAGE },
    content,
    finish: { type: 'finish', stopReason, stopSequence, usage: reported },
  };
}
