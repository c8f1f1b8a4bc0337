import type { StopReason } from '../../inference.ts';
import { brokenAnswer } from '../../json/upstream-json.ts';

interface FinishContext {
  readonly hasCalls: boolean;
  readonly isRefused: boolean;
}

/** Vendors have words of their own beside those of the format. */
const STOP_REASONS: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ['length', 'max_tokens'],
  ['max_tokens', 'max_tokens'],
  ['model_length', 'max_tokens'],
  ['model_context_window_exceeded', 'model_context_window_exceeded'],
  ['content_filter', 'refusal'],
  ['sensitive', 'refusal'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
]);

/** The last words of an upstream that failed, and whose answer ends anywhere. */
const FAILURES: ReadonlySet<unknown> = new Set([
  'abort',
  'error',
  'network_error',
  'insufficient_system_resource',
]);

/**
 * Some upstreams end a forced call with `stop`. Clients call the tool only if the reason says so.
 */
export function decodeFinishReason(
  reason: unknown,
  { hasCalls, isRefused }: FinishContext,
): StopReason {
  if (FAILURES.has(reason)) throw brokenAnswer('the upstream broke off');
  const known = STOP_REASONS.get(reason);
  if (known !== undefined) return known;
  if (isRefused) return 'refusal';
  return hasCalls ? 'tool_use' : 'end_turn';
}
