import type { InferenceEvent } from '../../inference.ts';
import { parseUpstreamJson } from '../../json/upstream-json.ts';
import type { StreamDecoder } from '../../sse/stream-decoder.ts';
import { createChunkDecoder } from './decode-chunks.ts';

/** The last event of a stream, which is not JSON. */
export const STREAM_DONE = '[DONE]';

/** Decodes the stream of an upstream of the chat format. */
export function createStreamDecoder(): StreamDecoder {
  const chunks = createChunkDecoder('delta');
  let isFinished = false;

  const finish = (): InferenceEvent[] => {
    isFinished = true;
    return chunks.finish();
  };

  return {
    decode({ event, data }) {
      if (isFinished) return [];
      // Usage may follow the finish reason, so only this event ends the stream.
      return data.trim() === STREAM_DONE ? finish() : chunks.decode(parseUpstreamJson(data), event);
    },
    end() {
      if (isFinished) return [];
      chunks.checkEnd();
      return finish();
    },
  };
}
