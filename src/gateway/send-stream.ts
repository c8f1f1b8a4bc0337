import type { Format, StreamEncoder } from '../protocol/format.ts';
import type { Answer, AnswerContext, AnswerPart } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { AnswerEnd, Meter } from './meter-usage.ts';
import type { RequestRecorder } from './record-request.ts';
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
  readonly parts: Answer;
  readonly format: Format;
  readonly context: AnswerContext;
  readonly meter: Meter;
  readonly recorder: RequestRecorder;
}

/**
 * Parts as they come. The status line waits for the first one: until then a failure is a plain error that
 * clients retry, afterwards it is the last event of the stream.
 */
export async function sendStream(answer: StreamedAnswer): Promise<AnswerEnd> {
  const { client, parts, format, context, meter, recorder } = answer;
  recorder.beginUpstreamWait();
  const first = await parts.next();
  recorder.endUpstreamWait();
  if (first.done === true) throw new Refusal('upstream_broken', 'The upstream gave no answer.');

  recorder.noteAnswer();
  const stream = client.startStream(STREAM_HEAD);
  // Most streams go on in the words of their upstream, and are many: they have none.
  let encoder: StreamEncoder | undefined;
  const needEncoder = () => {
    encoder ??= format.createStreamEncoder(context);
    return encoder;
  };
  const silence = setInterval(
    () => void stream.write(needEncoder().encodeSilence()),
    SILENCE_MAX_MS,
  );
  let end: AnswerEnd = 'complete';
  try {
    let next: IteratorResult<AnswerPart> = first;
    while (next.done !== true) {
      silence.refresh();
      const bytes = encodePart(next.value, meter, needEncoder);
      const drained = bytes.length > 0 ? stream.write(bytes) : undefined;
      if (drained !== undefined) {
        recorder.beginClientWait();
        await drained;
        recorder.endClientWait();
      }
      if (stream.isFinished) return 'left';
      if (next.value.isLast === true) break;
      recorder.beginUpstreamWait();
      next = await parts.next();
      recorder.endUpstreamWait();
    }
  } catch (error) {
    if (!(error instanceof Refusal) || stream.isFinished) throw error;
    end = 'failed';
    recorder.noteFailure(error, false);
    await stream.write(needEncoder().encodeError(error, client.requestId));
  } finally {
    clearInterval(silence);
    // Where the client left first, the upstream is told to stop.
    await parts.return?.();
  }
  stream.endStream();
  return end;
}

/** What is counted is what goes out, in whosever words. */
function encodePart(
  part: AnswerPart,
  meter: Meter,
  needEncoder: () => StreamEncoder,
): string | Uint8Array {
  let text = '';
  meter.noteContent(part.contentBytes);
  for (const event of part.events) {
    const counted = meter.note(event);
    if (part.bytes === undefined) text += needEncoder().encode(counted);
  }
  return part.bytes ?? text;
}
