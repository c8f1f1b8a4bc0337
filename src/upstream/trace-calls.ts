import type { AnswerPart, Infer } from '../protocol/inference.ts';
import type { CallSpan } from '../protocol/trace-context.ts';

/** Notes each call of an upstream in the trace of its request, where that is recorded. */
export function traceCalls(upstream: string, infer: Infer): Infer {
  return (call) => {
    const span = call.trace?.recording?.startCall(upstream);
    if (call.trace === undefined || span === undefined) return infer(call);
    const { spanId } = span;
    return timeCall(infer({ ...call, trace: { ...call.trace, spanId } }), span);
  };
}

function timeCall(parts: AsyncIterable<AnswerPart>, span: CallSpan): AsyncIterable<AnswerPart> {
  const end = () => {
    span.endMs ??= performance.now();
  };
  return {
    [Symbol.asyncIterator]() {
      const iterator = parts[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const result = await iterator.next();
            if (result.done === true) end();
            else span.firstPartMs ??= performance.now();
            return result;
          } catch (error) {
            end();
            throw error;
          }
        },
        async return() {
          end();
          return (await iterator.return?.()) ?? { done: true, value: undefined };
        },
      };
    },
  };
}
