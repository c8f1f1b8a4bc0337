import type { AnswerContext, Format } from '../protocol/format.ts';
import type { InferenceEvent } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { AnswerEnd, Meter } from './meter-usage.ts';
import type { ClientSide } from './steps.ts';

/** Proxies and clients give up on a connection that says nothing for long. */
const SILENCE_MAX_MS = 10_000;

const STREAM_HEAD = {
  status: 200,
  headers: {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    // nginx would hold events back until its buffer is full.
    'x-accel-buffering': 'no',
  },
};

interface StreamedAnswer {
  readonly client: ClientSide;
  readonly events: AsyncIterable<InferenceEvent>;
  readonly format: Format;
  readonly context: AnswerContext;
  readonly meter: Meter;
}

/**
 * Events as they come. The status line waits for the first one: until then a failure is a plain error that
 * clients retry, afterwards it is the last event of the stream.
 */
export async function sendStream(answer: StreamedAnswer): Promise<AnswerEnd> {
  const { client, events, format, context, meter } = answer;
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) throw new Refusal('upstream_broken', 'The upstream gave no answer.');

  const stream = client.startStream(STREAM_HEAD);
  const encoder = format.createStreamEncoder(context);
  const silence = setInterval(() => void stream.write(encoder.encodeSilence()), SILENCE_MAX_MS);
  let end: AnswerEnd = 'complete';
  try {
    let next: IteratorResult<InferenceEvent> = first;
    for (; next.done !== true; next = await iterator.next()) {
      silence.refresh();
      meter.note(next.value);
      const text = encoder.encode(next.value);
      if (text !== '') await stream.write(text);
      if (stream.isFinished) return 'left';
    }
  } catch (error) {
    if (!(error instanceof Refusal) || stream.isFinished) throw error;
    end = 'failed';
    await stream.write(encoder.encodeError(error, client.requestId));
  } finally {
    clearInterval(silence);
    // Where the client left first, the upstream is told to stop.
    await iterator.return?.();
  }
  stream.endStream();
  return end;
}
