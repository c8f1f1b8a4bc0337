import { decodeStreamError, reportsError } from '../../answers/decode-upstream-error.ts';
import { NO_USAGE } from '../../answers/no-usage.ts';
import { raiseUsage } from '../../answers/raise-usage.ts';
import type { InferenceEvent, Usage } from '../../inference.ts';
import {
  brokenAnswer,
  type Json,
  parseUpstreamJson,
  readObject,
  readText,
} from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import type { StreamDecoder } from '../../sse/stream-decoder.ts';
import { createBlockDecoder } from './decode-blocks.ts';
import { decodeEnding, NO_ENDING } from './decode-ending.ts';
import { decodeUsage, reportsUsage } from './decode-usage.ts';
import { createOrderMender } from './mend-order.ts';

/** Decodes the stream of an upstream of the native format. */
export function createStreamDecoder(): StreamDecoder {
  const payloads = createPayloadDecoder();
  const order = createOrderMender();
  return {
    decode: ({ data }) => {
      const payload = parseUpstreamJson(data);
      const mended = order.mend(payload);
      if (mended === undefined) return payloads.decode(payload);
      return mended.flatMap((each) => payloads.decode(each));
    },
    end: () => payloads.end(),
  };
}

/** Does the same for payloads that are already parsed and in order. */
export function createPayloadDecoder(): PayloadDecoder {
  return new PayloadDecoder();
}

class PayloadDecoder {
  #usage: Usage = NO_USAGE;
  #isUsageReported = false;
  /**
   * Searches with results, counted until the usage is reported. Searches without results are not
   * billed.
   */
  #searches = 0;
  #ending = NO_ENDING;
  #stage: 'nothing' | 'started' | 'finished' = 'nothing';
  readonly #blocks = createBlockDecoder();

  decode(payload: Json): InferenceEvent[] {
    if (reportsError(payload['error'])) throw decodeStreamError(payload);
    const type = readText(payload, 'type') ?? '';
    switch (type) {
      case 'error':
        throw decodeStreamError(payload);
      case 'message_start':
        return this.#start(payload);
      case 'content_block_start':
        this.#checkStarted(type);
        return this.#noteSearch(payload, this.#blocks.start(payload));
      case 'content_block_delta':
        this.#checkStarted(type);
        return this.#blocks.addDelta(payload);
      case 'content_block_stop':
        this.#checkStarted(type);
        return this.#blocks.stop();
      case 'message_delta':
        this.#checkStarted(type);
        return this.#noteStop(payload);
      case 'message_stop':
        this.#checkStarted(type);
        return this.#finish();
      default:
        // Pings and unknown, newer events.
        return [];
    }
  }

  end(): InferenceEvent[] {
    if (this.#stage !== 'finished') throw brokenAnswer('it was cut off');
    return [];
  }

  #checkStarted(type: string): void {
    if (this.#stage !== 'started') throw brokenAnswer(`${type} is out of order`);
  }

  #start(payload: Json): InferenceEvent[] {
    if (this.#stage !== 'nothing') throw brokenAnswer('it starts twice');
    const message = readObject(payload, 'message');
    const { id, model } = message;
    if (typeof id !== 'string' || typeof model !== 'string') throw brokenAnswer('it has no id');
    const started = decodeUsage(message['usage'], NO_USAGE);
    // Only the end says how long the answer is.
    this.#usage = { ...started, output: 0, thinking: 0 };
    this.#stage = 'started';
    return [{ type: 'start', id, model, usage: started }];
  }

  /**
   * Counts a search as soon as it has results, because the upstream reports usage only at the end.
   */
  #noteSearch({ content_block: block }: Json, events: InferenceEvent[]): InferenceEvent[] {
    const hasResults =
      isObject(block) &&
      block['type'] === 'web_search_tool_result' &&
      Array.isArray(block['content']);
    if (!hasResults || this.#isUsageReported) return events;
    this.#searches += 1;
    const searches = Math.max(this.#usage.searches, this.#searches);
    events.push({ type: 'usage', usage: { ...this.#usage, searches } });
    return events;
  }

  /** Several of these may come: one reports the reason and another the usage. */
  #noteStop(payload: Json): InferenceEvent[] {
    const delta = readObject(payload, 'delta');
    if (delta['stop_reason'] != null) this.#ending = decodeEnding(delta);
    this.#usage = raiseUsage(this.#usage, decodeUsage(payload['usage'], this.#usage));
    if (!reportsUsage(payload['usage'])) return [];
    this.#isUsageReported = true;
    return [{ type: 'usage', usage: this.#usage }];
  }

  #finish(): InferenceEvent[] {
    if (this.#blocks.isOpen()) throw brokenAnswer('it ends in the middle of a block');
    this.#stage = 'finished';
    const usage = this.#isUsageReported ? this.#usage : undefined;
    return [{ type: 'finish', ...this.#ending, usage }];
  }
}
