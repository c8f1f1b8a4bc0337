import type { InferenceEvent } from '../../inference.ts';
import { parseUpstreamJson } from '../../json/upstream-json.ts';
import type { StreamDecoder } from '../../sse/stream-decoder.ts';
import { createChunkDecoder } from './decode-chunks.ts';

/** What stands in place of JSON in the last event. */
export const STREAM_DONE = '[DONE]';

/** Reads what an upstream of the chat format streams. */
export function createStreamDecoder(): StreamDecoder {
  const chunks = createChunkDecoder('delta');
  let isFinished = false;

  const finish = (): InferenceEvent[] => {
    isFinished = true;
    return chunks.finish();
  };

  return {
    decode({ data }) {
      if (isFinished) return [];
      // Usage may follow the reason, so nothing but this is the end.
      return data.trim() === STREAM_DONE ? finish() : chunks.decode(parseUpstreamJson(data));
    },
    end() {
      if (isFinished) return [];
      chunks.checkEnd();
      return finish();
    },
  };
}
