import { NO_USAGE } from '../answers/no-usage.ts';
import { throwError } from '../chat/answers/decode-chunks.ts';
import type { InferenceEvent, Usage } from '../inference.ts';
import {
  brokenAnswer,
  type Json,
  parseUpstreamJson,
  readCount,
  readObject,
} from '../json/upstream-json.ts';
import { isObject } from '../schema.ts';
import type { RelayedAnswer } from '../sse/relayed-answer.ts';
import type { EmbeddingInput } from './embedding-input.ts';
import { type EmbeddingEntry, encodeEmbeddings } from './encode-answer.ts';
import { decodeFloats, encodeFloats, hasFloats } from './float-text.ts';

/**
 * Reads an upstream's answer. It must have one embedding for each input. Not every upstream knows
 * both encodings, so each embedding gets the one that was asked for.
 */
export function relayEmbeddings(
  body: string,
  model: string,
  { inputs, encoding }: Pick<EmbeddingInput, 'inputs' | 'encoding'>,
): RelayedAnswer {
  const answer = parseUpstreamJson(body);
  const usage = readEmbeddingUsage(answer);
  const data = readEntries(answer['data'], inputs.length, encoding);
  return {
    events: listUsageEvents(model, usage),
    contentBytes: 0,
    closing: (charged) => encodeEmbeddings(data, model, charged),
  };
}

/** The events of an answer that has no output. */
export function listUsageEvents(
  model: string,
  usage: Usage | undefined,
): readonly InferenceEvent[] {
  return [
    { type: 'start', id: '', model, usage: usage ?? NO_USAGE },
    { type: 'finish', stopReason: 'end_turn', stopSequence: undefined, usage },
  ];
}

/** Every input has tokens: an upstream that reports none has not counted. */
export function readEmbeddingUsage(answer: Json): Usage | undefined {
  throwError(answer);
  const reported = readObject(answer, 'usage');
  const input = readCount(reported['prompt_tokens']) || readCount(reported['total_tokens']);
  return input ? { ...NO_USAGE, input } : undefined;
}

function readEntries(
  data: unknown,
  count: number,
  encoding: EmbeddingInput['encoding'],
): readonly EmbeddingEntry[] {
  if (!Array.isArray(data) || data.length !== count) {
    throw brokenAnswer('it does not have one embedding for each input');
  }
  const entries = new Array<EmbeddingEntry | undefined>(count);
  for (let place = 0; place < count; place++) {
    const entry: unknown = data[place];
    const fields = isObject(entry) ? entry : {};
    const index = fields['index'] == null ? place : readCount(fields['index']);
    if (index === undefined || index >= count || entries[index] !== undefined) {
      throw brokenAnswer('two embeddings are for the same input');
    }
    entries[index] = {
      object: 'embedding',
      index,
      embedding: encode(fields['embedding'], encoding),
    };
  }
  return entries as readonly EmbeddingEntry[];
}

function encode(value: unknown, encoding: EmbeddingInput['encoding']): EmbeddingEntry['embedding'] {
  if (typeof value === 'string') {
    const embedding = encoding === 'base64' && hasFloats(value) ? value : decodeFloats(value);
    if (embedding !== undefined) return embedding;
  }
  if (Array.isArray(value) && value.length > 0 && value.every(Number.isFinite)) {
    return encoding === 'base64' ? encodeFloats(value) : value;
  }
  throw brokenAnswer('an embedding is not a list of numbers');
}
