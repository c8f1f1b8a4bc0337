import type { StopSignal } from '../../lib/time/stop-signal.ts';
import type { BlockDelta, BlockStart, InferenceEvent, Usage } from '../../protocol/inference.ts';
import type { AnswerPlan, BlockPlan } from './plan-answer.ts';
import { createSimulatedError, type ErrorPlan } from './simulated-errors.ts';
import type { TokenPace } from './token-pace.ts';

interface TellOptions {
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
export async function* tellAnswer(telling: TellOptions): AsyncGenerator<InferenceEvent> {
  const { answer, error, pace, signal } = telling;
  let told = 0;
  let thought = 0;
  for (const [index, block] of answer.blocks.entries()) {
    yield { type: 'block_start', index, block: startBlock(block, telling.createToolId(index)) };
    for (const token of block.tokens) {
      if (told === error?.afterTokens) throw createSimulatedError(error);
      await pace(signal);
      told += 1;
      if (block.type === 'thinking') thought += 1;
      yield { type: 'delta', index, delta: toDelta(block, token) };
    }
    if (block.type === 'thinking') {
      yield { type: 'delta', index, delta: { type: 'signature', signature: telling.signature } };
    }
    yield { type: 'block_stop', index };
  }
  // An answer that is shorter fails at its end.
  if (error?.afterTokens !== undefined) throw createSimulatedError(error);
  yield {
    type: 'finish',
    stopReason: answer.stopReason,
    stopSequence: answer.stopSequence,
    usage: { ...telling.usage, output: told, thinking: thought },
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
