import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../../../src/catalogue/estimate-tokens.ts';
import { readRequest } from '../../../../../src/gateway/read-request.ts';
import { encodeChatRequest } from '../../../../../src/protocol/chat/requests/encode-request.ts';
import { encodeNativeRequest } from '../../../../../src/protocol/native/requests/encode-request.ts';
import { responsesFormat } from '../../../../../src/protocol/responses/responses-format.ts';
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

describe('the thoughts of a Responses client, for a chat upstream', () => {
  const thought = (...texts: unknown[]) => ({
    ...{ type: 'reasoning', id: 'rs_1', encrypted_content: null },
    summary: texts.map((said) => ({ type: 'summary_text', text: said })),
  });
  const bodyOf = (...items: unknown[]) => ({
    model: 'm',
    reasoning: { effort: 'high' },
    input: [
      { role: 'user', content: 'Hi' },
      ...items,
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'Seen' },
    ],
  });
  const callWith = (...items: unknown[]): UpstreamCall => {
    const { request } = responsesFormat.decodeRequest(bodyOf(...items), () => undefined);
    return { request, outputTokensMax: 9_000, isStream: false, accepts };
  };

  it.each([
    ['a summary', [thought('I should look.')], 'I should look.'],
    ['several texts', [thought('I should', ' look.')], 'I should look.'],
    ['no summary', [{ type: 'reasoning' }], ''],
    ['nothing that can be read', [{ type: 'reasoning', summary: [1, { text: 2 }] }], ''],
    ['what nobody can open', [{ ...thought('Hm.'), encrypted_content: 'gAAAA' }], ''],
  ])('stand beside the calls: %s', (_, items, said) => {
    expect(answersIn(callWith(...items))).toMatchObject([
      { reasoning_content: said, tool_calls: [{ id: 'c1' }] },
    ]);
  });

  it('are no thoughts for a native upstream', () => {
    const body = JSON.parse(encodeNativeRequest(callWith(thought('I should look.')), 'm'));
    expect(body).not.toHaveProperty('thinking');
    expect(JSON.stringify(body)).not.toContain('I should look.');
  });

  it('are counted, however long they are', () => {
    const tokensOf = (...texts: string[]) => {
      const bytes = Buffer.from(JSON.stringify(bodyOf(thought(...texts))));
      const { request, source } = readRequest(bytes, responsesFormat, () => undefined, true);
      return estimateTokens(request, 4, source).likely;
    };
    const long = 'word '.repeat(20_000);
    expect(tokensOf(long, long) - tokensOf('', '')).toBeGreaterThanOrEqual(50_000);
  });
});
