import { pourAnswer } from '../protocol/answers/pour-answer.ts';
import type { Answer, AnswerPart, Infer } from '../protocol/inference.ts';
import type { CallSpan } from '../protocol/trace-context.ts';

/** Notes each call of an upstream in the trace of its request, if that trace is recorded. */
export function traceCalls(upstream: string, infer: Infer): Infer {
  return (call) => {
    const span = call.trace?.recording?.startCall(upstream);
    if (call.trace === undefined || span === undefined) return infer(call);
    const { spanId } = span;
    try {
      return timeCall(infer({ ...call, trace: { ...call.trace, spanId } }), span);
    } catch (error) {
      span.endMs = performance.now();
      throw error;
    }
  };
}

function timeCall(answer: Answer, span: CallSpan): Answer {
  const end = () => {
    span.endMs ??= performance.now();
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        const result = await answer.next();
        if (result.done !== true) span.firstPartMs ??= performance.now();
        if (result.done === true || result.value.isLast === true) end();
        return result;
      } catch (error) {
        end();
        throw error;
      }
    },
    async pour(take) {
      try {
        return await pourAnswer(answer, take);
      } finally {
        end();
      }
    },
    isSent: () => answer.isSent?.() ?? true,
    async return(): Promise<IteratorResult<AnswerPart>> {
      end();
      await answer.return?.();
      return { done: true, value: undefined };
    },
  };
}
