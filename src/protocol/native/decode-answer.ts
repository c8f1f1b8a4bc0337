import { decodeStreamError } from '../decode-upstream-error.ts';
import type { InferenceEvent } from '../inference.ts';
import type { RelayedAnswer } from '../relayed-answer.ts';
import { replaceText } from '../splice-json.ts';
import { brokenAnswer, type Json, parseUpstreamJson, readUpstreamBody } from '../upstream-json.ts';
import { countBlockBytes, createBlockDecoder } from './decode-blocks.ts';
import { decodeEnding } from './decode-ending.ts';
import { decodeUsage, NO_USAGE, tellsUsage } from './decode-usage.ts';

/** The events of an answer that comes as a whole. */
export function decodeNativeAnswer(body: string): readonly InferenceEvent[] {
  return decodePayload(parseUpstreamJson(body));
}

/**
 * What a native client gets to read: all of the answer, with what nobody here knows in it. Without usage it is
 * better written anew, with an estimate.
 */
export function relayNativeAnswer(body: Buffer, model: string): RelayedAnswer {
  const answer = readUpstreamBody(body);
  const { value } = answer;
  if (!tellsUsage(value['usage'])) {
    return { events: decodePayload(value), contentBytes: 0, bytes: undefined };
  }
  const { start, content, finish } = readAnswer(value);
  let contentBytes = 0;
  for (const block of content) contentBytes += countBlockBytes(block);
  const bytes =
    replaceText(answer, 'model', model) ?? Buffer.from(JSON.stringify({ ...value, model }));
  return { events: [start, finish], contentBytes, bytes };
}

function decodePayload(answer: Json): readonly InferenceEvent[] {
  const { start, content, finish } = readAnswer(answer);
  const blocks = createBlockDecoder();
  const events: InferenceEvent[] = [start];
  for (const block of content) {
    events.push(...blocks.start({ content_block: block }), ...blocks.stop());
  }
  events.push(finish);
  return events;
}

interface Reading {
  readonly start: InferenceEvent;
  readonly content: readonly unknown[];
  readonly finish: InferenceEvent;
}

function readAnswer(answer: Json): Reading {
  if (answer['type'] === 'error') throw decodeStreamError(answer);
  const { id, model, content } = answer;
  if (typeof id !== 'string' || typeof model !== 'string') throw brokenAnswer('it has no id');
  if (!Array.isArray(content)) throw brokenAnswer('it has no content');
  const usage = decodeUsage(answer['usage'], NO_USAGE);
  const { stopReason, stopSequence } = decodeEnding(answer);
  const told = tellsUsage(answer['usage']) ? usage : undefined;
  return {
    start: { type: 'start', id, model, usage },
    content,
    finish: { type: 'finish', stopReason, stopSequence, usage: told },
  };
}
