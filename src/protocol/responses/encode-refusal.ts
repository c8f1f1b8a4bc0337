import { encodeRefusal as encodeChatRefusal } from '../chat/encode-refusal.ts';
import type { RefusalEncoder } from '../encode-hybrid-refusal.ts';
import { REFUSALS, type Refusal } from '../refusals.ts';

/** What clients of this format call the fields that other code names. */
const PARAMS: Readonly<Record<string, string>> = {
  messages: 'input',
  max_tokens: 'max_output_tokens',
};

/** The body is that of the chat format. */
export const encodeRefusal: RefusalEncoder = (refusal, requestId) => {
  const param = PARAMS[refusal.param ?? ''];
  if (param === undefined) return encodeChatRefusal(refusal, requestId);
  const body = JSON.parse(encodeChatRefusal(refusal, requestId));
  return JSON.stringify({ error: { ...body.error, param } });
};

/** For these, another request would fail as well: it is the request, or who sends it. */
const LASTING: ReadonlySet<number> = new Set([400, 401, 403, 413]);

/**
 * The code of a response that failed in the middle. It decides whether clients try again, and pay
 * again: they do for all but a few codes, and show the message of `invalid_prompt` to their user.
 */
export function failureCodeOf({ refusal, isOversize }: Refusal): string {
  const { status, chatCode } = REFUSALS[refusal];
  if (status === 402 || chatCode === 'context_length_exceeded') return chatCode;
  if (isOversize || LASTING.has(status)) return 'invalid_prompt';
  return status === 429 ? 'rate_limit_exceeded' : 'server_error';
}
