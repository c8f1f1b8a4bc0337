import type { StopReason } from '../../inference.ts';

interface FinishContext {
  readonly hasCalls: boolean;
  readonly isRefused: boolean;
}

/** A demanded call ends with `stop` at some upstreams; clients call the tool only when the reason says so. */
export function decodeFinishReason(
  reason: unknown,
  { hasCalls, isRefused }: FinishContext,
): StopReason {
  switch (reason) {
    case 'length':
      return 'max_tokens';
    case 'content_filter':
      return 'refusal';
    case 'tool_calls':
    case 'function_call':
      return 'tool_use';
    default:
      if (isRefused) return 'refusal';
      return hasCalls ? 'tool_use' : 'end_turn';
  }
}
