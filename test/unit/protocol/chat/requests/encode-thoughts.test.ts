import { describe, expect, it } from 'vitest';
import { encodeChatRequest } from '../../../../../src/protocol/chat/requests/encode-request.ts';
import type { UpstreamCall } from '../../../../../src/protocol/upstream-call.ts';
import { assistant, text, user } from '../../native/request-parts.ts';
import { callOf } from '../../upstream-requests.ts';

const accepts = new Set(['reasoning_content' as const]);

function answersIn(call: UpstreamCall): readonly Record<string, unknown>[] {
  const body = JSON.parse(encodeChatRequest(call, 'vendor-name', 'max_completion_tokens'));
  return body.messages.filter(({ role }: { role: string }) => role === 'assistant');
}

describe('the thoughts of a native client, for a chat upstream', () => {
  const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'Seen' });
  const messages = [
    user(text('Hi')),
    assistant({ type: 'thinking', thinking: 'Hm.', signature: 'tollgate' }, use('a')),
    user(result('a')),
    assistant(use('b')),
    user(result('b')),
    assistant(text('So')),
    user(text('Go on')),
  ];

  it('stand beside all calls, even if there are none', () => {
    const answers = answersIn(callOf({ messages }, { accepts }));
    expect(answers.map((answer) => answer['reasoning_content'])).toEqual(['Hm.', '', undefined]);
  });

  it('are not sent where they are not taken', () => {
    for (const answer of answersIn(callOf({ messages }))) {
      expect(answer).not.toHaveProperty('reasoning_content');
    }
  });
});
