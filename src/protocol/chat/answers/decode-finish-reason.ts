import type { StopReason } from '../../inference.ts';

interface FinishContext {
  readonly hasCalls: boolean;
  readonly isRefused: boolean;
}

/**
 * Some upstreams end a forced call with `stop`. Clients call the tool only if the reason says so.
 */
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
