import type { StopSignal } from '../../lib/time/stop-signal.ts';
import type { BlockDelta, BlockStart, InferenceEvent, Usage } from '../../protocol/inference.ts';
import type { AnswerPlan, BlockPlan } from './plan-answer.ts';
import { createSimulatedError, type ErrorPlan } from './simulated-errors.ts';
import type { TokenPace } from './token-pace.ts';

interface EmitOptions {
  readonly answer: AnswerPlan;
  /** The usage of the input. */
  readonly usage: Usage;
  readonly error: ErrorPlan | undefined;
  readonly pace: TokenPace;
  readonly signal: StopSignal;
  createToolId(index: number): string;
  readonly signature: string;
}

/** The events after the start, one token at a time. */
export async function* emitAnswer(options: EmitOptions): AsyncGenerator<InferenceEvent> {
  const { answer, error, pace, signal } = options;
  let emitted = 0;
  let thought = 0;
  for (const [index, block] of answer.blocks.entries()) {
    yield { type: 'block_start', index, block: startBlock(block, options.createToolId(index)) };
    for (const token of block.tokens) {
      if (emitted === error?.afterTokens) throw createSimulatedError(error);
      await pace(signal);
      emitted += 1;
      if (block.type === 'thinking') thought += 1;
      yield { type: 'delta', index, delta: toDelta(block, token) };
    }
    if (block.type === 'thinking') {
      yield { type: 'delta', index, delta: { type: 'signature', signature: options.signature } };
    }
    yield { type: 'block_stop', index };
  }
  // An answer that is shorter fails at its end.
  if (error?.afterTokens !== undefined) throw createSimulatedError(error);
  yield {
    type: 'finish',
    stopReason: answer.stopReason,
    stopSequence: answer.stopSequence,
    usage: { ...options.usage, output: emitted, thinking: thought },
  };
}

function startBlock(block: BlockPlan, toolId: string): BlockStart {
  return block.type === 'tool_use'
    ? { type: 'tool_use', id: toolId, name: block.name }
    : { type: block.type };
}

function toDelta(block: BlockPlan, token: string): BlockDelta {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking', thinking: token };
    case 'text':
      return { type: 'text', text: token };
    case 'tool_use':
      return { type: 'input_json', json: token };
  }
}
