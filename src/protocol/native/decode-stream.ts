import { decodeStreamError } from '../decode-upstream-error.ts';
import type { InferenceEvent, Usage } from '../inference.ts';
import type { StreamDecoder } from '../stream-decoder.ts';
import {
  brokenAnswer,
  type Json,
  parseUpstreamJson,
  readObject,
  readText,
} from '../upstream-json.ts';
import { createBlockDecoder } from './decode-blocks.ts';
import { decodeEnding, NO_ENDING } from './decode-ending.ts';
import { decodeUsage, NO_USAGE, tellsUsage } from './decode-usage.ts';

/** Reads what an upstream of the native format streams. */
export function createStreamDecoder(): StreamDecoder {
  const { decode, end } = createPayloadDecoder();
  return { decode: ({ data }) => decode(parseUpstreamJson(data)), end };
}

/** The same behind the JSON, for those who have read that already. */
export function createPayloadDecoder() {
  let usage: Usage = NO_USAGE;
  let isUsageTold = false;
  let ending = NO_ENDING;
  let stage: 'nothing' | 'started' | 'finished' = 'nothing';
  const blocks = createBlockDecoder();

  const start = (payload: Json): InferenceEvent[] => {
    if (stage !== 'nothing') throw brokenAnswer('it starts twice');
    const message = readObject(payload, 'message');
    const { id, model } = message;
    if (typeof id !== 'string' || typeof model !== 'string') throw brokenAnswer('it has no id');
    const started = decodeUsage(message['usage'], NO_USAGE);
    // Only the end tells how long the answer is.
    usage = { ...started, output: 0, thinking: 0 };
    stage = 'started';
    return [{ type: 'start', id, model, usage: started }];
  };

  const noteStop = (payload: Json): InferenceEvent[] => {
    ending = decodeEnding(readObject(payload, 'delta'));
    isUsageTold ||= tellsUsage(payload['usage']);
    usage = decodeUsage(payload['usage'], usage);
    return [];
  };

  const finish = (): InferenceEvent[] => {
    if (blocks.isOpen()) throw brokenAnswer('it ends in the middle of a block');
    stage = 'finished';
    return [{ type: 'finish', ...ending, usage: isUsageTold ? usage : undefined }];
  };

  const steps: Readonly<Record<string, (payload: Json) => InferenceEvent[]>> = {
    content_block_start: blocks.start,
    content_block_delta: blocks.addDelta,
    content_block_stop: blocks.stop,
    message_delta: noteStop,
    message_stop: finish,
  };

  return {
    decode(payload: Json): InferenceEvent[] {
      const type = readText(payload, 'type') ?? '';
      if (type === 'error') throw decodeStreamError(payload);
      if (type === 'message_start') return start(payload);
      const step = Object.hasOwn(steps, type) ? steps[type] : undefined;
      // Pings, and events that are newer than this.
      if (step === undefined) return [];
      if (stage !== 'started') throw brokenAnswer(`${type} is out of order`);
      return step(payload);
    },
    end(): InferenceEvent[] {
      if (stage !== 'finished') throw brokenAnswer('it was cut off');
      return [];
    },
  };
}
