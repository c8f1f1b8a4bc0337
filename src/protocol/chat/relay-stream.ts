import { asBuffer } from '../../lib/as-buffer.ts';
import type { SseEvent } from '../decode-sse.ts';
import type { AnswerContext, InferenceEvent } from '../inference.ts';
import { isObject } from '../schema.ts';
import {
  createStreamRelay,
  encodeUtf8,
  type RelayedFrame,
  type StreamRelay,
} from '../stream-relay.ts';
import { createTextFrames, type TextRun } from '../text-frames.ts';
import { type Json, parseUpstreamJson, readObject } from '../upstream-json.ts';
import { cutAtChoices } from './cut-at-choices.ts';
import { createChunkDecoder } from './decode-chunks.ts';
import { DONE } from './decode-stream.ts';
import { createStreamEncoder, encodeHead, encodeTail } from './encode-stream.ts';

/** What the head of a chunk is made of; the later of two fields of one name counts. */
const HEAD_FIELDS = ['id', 'object', 'created', 'model'];

/**
 * From an upstream of the chat format to a chat client. Every chunk names the model, so its head is replaced;
 * what it says goes on as it came. The beginning and the end are written anew: where the reason, the usage
 * and the terminator stand, and whether at all, differs from upstream to upstream.
 */
export function createChatRelay(model: string, context: AnswerContext): StreamRelay {
  const chunks = createChunkDecoder();
  const encoder = createStreamEncoder(context);
  let head: string | undefined;
  const heads: Heads = { bytes: new Uint8Array(0), cutBytes: 0 };
  const texts = createTextFrames();

  const begin = (start: InferenceEvent | undefined): readonly Uint8Array[] => {
    if (start?.type !== 'start') return [];
    head = encodeHead({ ...start, model }, context);
    heads.bytes = Buffer.from(head);
    return encodeUtf8(encoder.encode({ ...start, model }));
  };

  const relayChunk = (chunk: Json, bytes: Uint8Array): readonly Uint8Array[] => {
    const choices = readChoices(chunk);
    if (head === undefined || choices.every(isSilent)) return [];
    const rest = isPlain(chunk, choices) ? cutAtChoices(bytes) : undefined;
    if (rest !== undefined) return [heads.bytes, rest];
    const spoken = choices.map((choice) => ({ ...choice, finish_reason: null }));
    return encodeUtf8(`${head}${JSON.stringify(spoken)}${encodeTail(context)}`);
  };

  const finish = (): RelayedFrame => {
    const events = chunks.finish();
    return {
      events,
      bytes: events.flatMap((event) =>
        event.type === 'finish' ? encodeUtf8(encoder.encode(event)) : [],
      ),
    };
  };

  const relayEvent = ({ data }: SseEvent, bytes: Uint8Array): RelayedFrame => {
    texts.forget();
    if (data.trim() === DONE) return finish();
    const chunk = parseUpstreamJson(data);
    const events = chunks.decode(chunk);
    const begun = begin(events[0]);
    const relayed = relayChunk(chunk, bytes);
    const rest = relayed.length === 2 ? relayed[1] : undefined;
    if (rest !== undefined) {
      texts.learn(bytes, events);
      heads.cutBytes = bytes.length - rest.length;
    }
    return { events, bytes: [...begun, ...relayed] };
  };

  return createStreamRelay({
    relay({ event, bytes }) {
      if (event !== undefined) return relayEvent(event, bytes);
      return { events: [], bytes: head === undefined ? [] : [bytes] };
    },
    skim(chunk, start) {
      const run = texts.skim(chunk, start);
      if (run === undefined) return undefined;
      const { end, contentBytes } = run;
      return { bytes: replaceHeads(chunk, start, run, heads), contentBytes, end };
    },
    end() {
      chunks.checkEnd();
      return finish();
    },
  });
}

/** What chunks begin with, for the client and from the upstream. */
interface Heads {
  bytes: Uint8Array;
  /** In chunks like the last one. */
  cutBytes: number;
}

function replaceHeads(chunk: Uint8Array, start: number, run: TextRun, heads: Heads): Buffer {
  const { ends, end } = run;
  const { bytes, cutBytes } = heads;
  const source = asBuffer(chunk);
  const replaced = Buffer.allocUnsafe(end - start + ends.length * (bytes.length - cutBytes));
  let at = 0;
  let frameStart = start;
  for (const frameEnd of ends) {
    replaced.set(bytes, at);
    at += bytes.length;
    at += source.copy(replaced, at, frameStart + cutBytes, frameEnd);
    frameStart = frameEnd;
  }
  return replaced;
}

function readChoices({ choices }: Json): readonly Json[] {
  return Array.isArray(choices) ? choices.filter(isObject) : [];
}

/** The role, the reason and what is empty are said at the beginning and at the end. */
function isSilent(choice: Json): boolean {
  const delta = readObject(choice, 'delta');
  return Object.entries(delta).every(([name, value]) => name === 'role' || isNothing(value));
}

const isNothing = (value: unknown) =>
  value == null || value === '' || (Array.isArray(value) && value.length === 0);

/** Nothing in it has to be taken out but what stands before its choices. */
function isPlain(chunk: Json, choices: readonly Json[]): boolean {
  const names = Object.keys(chunk);
  const behind = names.slice(names.indexOf('choices'));
  return (
    chunk['usage'] == null &&
    !behind.some((name) => HEAD_FIELDS.includes(name)) &&
    choices.every((choice) => choice['finish_reason'] == null)
  );
}
