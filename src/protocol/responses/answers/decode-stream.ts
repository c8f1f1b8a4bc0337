import { decodeMessageId } from '../../answers/decode-message-id.ts';
import { decodeStreamError, reportsError } from '../../answers/decode-upstream-error.ts';
import { NO_USAGE } from '../../answers/no-usage.ts';
import type { InferenceEvent } from '../../inference.ts';
import {
  brokenAnswer,
  type Json,
  parseUpstreamJson,
  readObject,
  readText,
} from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import type { Sealer } from '../../sealed-reasoning.ts';
import type { StreamDecoder } from '../../sse/stream-decoder.ts';
import { NO_TOOL_NAMES, type ToolNames } from '../response-context.ts';
import { checkStatus, decodeFailure, decodeStopReason, isCutCall } from './decode-ending.ts';
import { ItemDecoder, ONLY, SUMMARY } from './decode-items.ts';
import { decodeUsage } from './decode-usage.ts';

/** Some upstreams end a stream with it, as streams of the chat format do. It is not JSON. */
export const STREAM_DONE = '[DONE]';

/** Decodes the stream of an upstream of the responses format. */
export function createStreamDecoder(seal: Sealer | undefined): StreamDecoder {
  const payloads = createPayloadDecoder(seal);
  return {
    decode: ({ data }) =>
      data.trim() === STREAM_DONE ? [] : payloads.decode(parseUpstreamJson(data)),
    end: () => payloads.end(),
  };
}

/**
 * Does the same for payloads that are already parsed. `toolNames` are those of a request that its
 * upstream got as it was.
 */
export function createPayloadDecoder(
  seal: Sealer | undefined,
  toolNames: ToolNames = NO_TOOL_NAMES,
): PayloadDecoder {
  return new PayloadDecoder(seal, toolNames);
}

/** Decodes an answer that is not a stream. */
export function decodeResponse(
  response: Json,
  seal: Sealer | undefined,
  toolNames?: ToolNames,
): readonly InferenceEvent[] {
  const payloads = createPayloadDecoder(seal, toolNames);
  return payloads.decode({ type: 'response.completed', response });
}

class PayloadDecoder {
  readonly #items;
  #stage: 'nothing' | 'started' | 'finished' = 'nothing';

  constructor(seal: Sealer | undefined, toolNames: ToolNames) {
    this.#items = new ItemDecoder(seal, toolNames);
  }

  /** Whether the last payload had an item once more, in the same place. */
  get isRepetition(): boolean {
    return this.#items.isRepetition;
  }

  /** How much of what was decoded is in no event yet. */
  get waitingBytes(): number {
    return this.#items.queue.waitingBytes;
  }

  decode(payload: Json): InferenceEvent[] {
    const type = readText(payload, 'type') ?? '';
    this.#items.isRepetition = false;
    if (type === 'error' || reportsError(payload['error'])) throw decodeStreamError(payload);
    if (this.#stage === 'finished') return [];
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        return this.#start(readObject(payload, 'response'));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#finish(type, readObject(payload, 'response'));
      default:
        return type.startsWith('response.') ? this.#decodePiece(type, payload) : [];
    }
  }

  end(): InferenceEvent[] {
    if (this.#stage !== 'finished') throw brokenAnswer('it was cut off');
    return [];
  }

  #start(response: Json): InferenceEvent[] {
    if (reportsError(response['error'])) throw decodeStreamError(response);
    if (this.#stage !== 'nothing') return [];
    this.#stage = 'started';
    const id = decodeMessageId(readText(response, 'id'), 'resp_');
    const usage = decodeUsage(response['usage']) ?? NO_USAGE;
    return [{ type: 'start', id, model: readText(response, 'model') ?? '', usage }];
  }

  #decodePiece(type: string, payload: Json): InferenceEvent[] {
    const said = this.#readPiece(type, payload);
    if (this.#stage === 'started' || said.length === 0) return said;
    // Some upstreams leave out the beginning.
    return [...this.#start({}), ...said];
  }

  /** Reads a piece of an item. Unknown, newer events say nothing. */
  #readPiece(type: string, payload: Json): InferenceEvent[] {
    const items = this.#items;
    const { output_index: place, delta } = payload;
    const part = String(payload['content_index']);
    const summary = `${SUMMARY}${String(payload['summary_index'])}`;
    switch (type) {
      case 'response.output_item.added':
        return items.add(place, payload['item']);
      case 'response.output_item.done':
        return items.end(place, payload['item']);
      case 'response.output_text.delta':
        items.expect(place, 'message');
        return items.say(place, part, delta);
      case 'response.reasoning_text.delta':
        items.expect(place, 'reasoning');
        return items.say(place, part, delta);
      case 'response.refusal.delta':
        items.expect(place, 'message');
        items.noteRefusal(place, part);
        return items.say(place, part, delta);
      case 'response.reasoning_summary_text.delta':
        items.expect(place, 'reasoning');
        return items.say(place, summary, delta);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return items.say(place, ONLY, delta);
      case 'response.output_text.done':
        return items.complete(place, part, payload['text']);
      case 'response.refusal.done':
        items.noteRefusal(place, part);
        return items.complete(place, part, payload['refusal']);
      case 'response.content_part.done':
        items.note(place, part, payload['part']);
        return [];
      default:
        return [];
    }
  }

  #finish(type: string, response: Json): InferenceEvent[] {
    if (type === 'response.failed') throw decodeFailure(response);
    checkStatus(response);
    const events = this.#start(response);
    for (const event of this.#readRest(response['output'])) events.push(event);
    for (const event of this.#items.finish()) events.push(event);
    this.#stage = 'finished';
    const { hasCalls, isRefused } = this.#items;
    const status = type === 'response.incomplete' ? 'incomplete' : response['status'];
    const stopReason = decodeStopReason({ ...response, status }, { hasCalls, isRefused });
    const usage = decodeUsage(response['usage']);
    events.push({ type: 'finish', stopReason, stopSequence: undefined, usage });
    return events;
  }

  /** Some upstreams say everything at the end, or all but the beginning of an item. */
  #readRest(output: unknown): InferenceEvent[] {
    const items = this.#items;
    const isSilent = items.isEmpty;
    if (!Array.isArray(output)) {
      if (isSilent) throw brokenAnswer('it has no output');
      return [];
    }
    return output.flatMap((item: unknown, place) => {
      const isRest = isObject(item) && items.isOpen(place, item) && !isCutCall(item);
      return isSilent || isRest ? items.end(place, item) : [];
    });
  }
}
