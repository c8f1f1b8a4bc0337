import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeNativeRequest } from '../../../../../src/protocol/native/requests/encode-request.ts';
import { responsesFormat } from '../../../../../src/protocol/responses/responses-format.ts';
import type { UpstreamCall } from '../../../../../src/protocol/upstream-call.ts';
import { callOf } from '../../upstream-requests.ts';
import { assistant, result, text, use, user } from '../request-parts.ts';

const encode = (call: UpstreamCall): Record<string, unknown> =>
  JSON.parse(encodeNativeRequest(call, 'vendor-name'));

const thinking = { type: 'enabled', budget_tokens: 10_000, display: 'summarized' };

describe('thinking', () => {
  const thinkingWith = (outputTokensMax: number) =>
    encode(callOf({ max_tokens: 20_000, thinking }, { outputTokensMax }))['thinking'];

  it('stays as it is while it fits', () => {
    expect(thinkingWith(20_000)).toEqual(thinking);
    expect(thinkingWith(10_001)).toEqual(thinking);
  });

  it('keeps its share of an answer that was cut', () => {
    expect(thinkingWith(10_000)).toEqual({ ...thinking, budget_tokens: 5_000 });
    expect(thinkingWith(2_000)).toEqual({ ...thinking, budget_tokens: 1_024 });
  });

  it('goes where there is no room for it', () => {
    expect(thinkingWith(1_025)).toEqual({ ...thinking, budget_tokens: 1_024 });
    expect(thinkingWith(1_024)).toBeUndefined();
  });

  it('takes the edits of earlier thoughts with it where it goes', () => {
    const clearing = { type: 'clear_thinking_20251015', keep: 'all' };
    const other = { type: 'clear_tool_uses_20250919' };
    const editsOf = (outputTokensMax: number, ...edits: unknown[]) =>
      encode(
        callOf(
          { max_tokens: 20_000, thinking, context_management: { edits } },
          { outputTokensMax },
        ),
      )['context_management'];
    expect(editsOf(20_000, clearing)).toEqual({ edits: [clearing] });
    expect(editsOf(1_000, clearing)).toBeUndefined();
    expect(editsOf(1_000, clearing, other)).toEqual({ edits: [other] });
  });

  it('goes where calls have lost their thoughts, even if the system has the last word', () => {
    const unsigned = { type: 'thinking', thinking: 'Hm.', signature: 'tollgate' };
    const messages = [
      user(text('Hi')),
      assistant(unsigned, { type: 'tool_use', id: 'a', name: 'look', input: {} }),
      user({ type: 'tool_result', tool_use_id: 'a', content: 'Seen' }),
      { role: 'system', content: 'Mind the gap.' },
    ];
    const accepts = new Set(['system_messages' as const]);
    for (const more of [{}, { accepts }]) {
      const call = callOf({ max_tokens: 20_000, thinking, messages }, more);
      expect(encode(call)).not.toHaveProperty('thinking');
    }
  });

  it('takes the thoughts of the turn with it, where there is no room for it', () => {
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'signed' };
    const messages = [user(text('Hi')), assistant(signed, use('a')), user(result('a'))];
    const sentWith = (outputTokensMax: number) =>
      encode(callOf({ max_tokens: 20_000, thinking, messages }, { outputTokensMax }))['messages'];
    expect(sentWith(2_000)).toEqual(messages);
    expect(sentWith(1_000)).toEqual([messages[0], assistant(use('a')), messages[2]]);
  });

  it('always leaves room for the answer', () => {
    const numbers = fc
      .record({
        budget: fc.integer({ min: 1_024, max: 64_000 }),
        room: fc.integer({ min: 1, max: 64_000 }),
      })
      .chain(({ budget, room }) =>
        fc.record({
          budget: fc.constant(budget),
          asked: fc.constant(budget + room),
          outputTokensMax: fc.integer({ min: 1, max: budget + room }),
        }),
      );
    fc.assert(
      fc.property(numbers, ({ budget, asked, outputTokensMax }) => {
        const body = { max_tokens: asked, thinking: { type: 'enabled', budget_tokens: budget } };
        const fitted = encode(callOf(body, { outputTokensMax }))['thinking'] as
          | { budget_tokens: number }
          | undefined;
        expect(fitted === undefined).toBe(outputTokensMax <= 1_024);
        if (fitted === undefined) return;
        expect(fitted.budget_tokens).toBeGreaterThanOrEqual(1_024);
        expect(fitted.budget_tokens).toBeLessThanOrEqual(budget);
        expect(fitted.budget_tokens).toBeLessThan(outputTokensMax);
      }),
    );
  });

  it('between calls of tools is not bound by the output of one answer', () => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    const call = callOf({ max_tokens: 20_000, thinking, tools }, { outputTokensMax: 2_000 });
    const betas = ['interleaved-thinking-2025-05-14'];
    const request = { ...call.request, betas };
    expect(encode({ ...call, request })['thinking']).toEqual(thinking);
    expect(encode(call)['thinking']).not.toEqual(thinking);
  });

  it('of other kinds is nothing to fit', () => {
    const adaptive = { type: 'adaptive', display: 'omitted' };
    expect(encode(callOf({ thinking: adaptive }, { outputTokensMax: 1 }))['thinking']).toEqual(
      adaptive,
    );
  });
});

describe('the thinking of a Responses client', () => {
  const callWith = (body: Record<string, unknown>, more: Partial<UpstreamCall> = {}) => {
    const { request } = responsesFormat.decodeRequest(
      { model: 'opus', input: 'Hello', temperature: 0.5, top_p: 0.5, ...body },
      () => undefined,
      { openThought: (signature) => ({ type: 'thinking', thinking: 'Hm.', signature }) },
    );
    return encode({ request, outputTokensMax: 10_000, isStream: false, ...more });
  };
  const accepts = new Set(['effort' as const]);
  const asked = { reasoning: { effort: 'high' }, tools: [{ type: 'function', name: 'a' }] };
  const callItems = (id: string) => [
    { type: 'function_call', call_id: id, name: 'a', arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: '' },
  ];
  const thoughtItem = { type: 'reasoning', summary: [], encrypted_content: 'signed' };

  it('has its effort where models take one', () => {
    const sent = callWith({ reasoning: { effort: 'high' } }, { accepts });
    expect(sent).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    });
    expect(sent).toMatchObject({ top_p: 0.95 });
    expect(sent).not.toHaveProperty('temperature');
  });

  it.each([
    ['minimal', 1_024],
    ['low', 2_000],
    ['medium', 5_000],
    ['high', 8_000],
    ['xhigh', 9_000],
  ])('has a budget where they take none: %s', (effort, budget) => {
    const sent = callWith({ reasoning: { effort } });
    expect(sent['thinking']).toEqual({ type: 'enabled', budget_tokens: budget });
    expect(sent).toMatchObject({ max_tokens: 10_000, top_p: 0.95 });
    expect(sent).not.toHaveProperty('temperature');
    expect(sent).not.toHaveProperty('output_config');
  });

  it.each([
    ['asks for none', { reasoning: { effort: 'none' } }, {}],
    ['asks for an unknown effort', { reasoning: { effort: 'constructor' } }, {}],
    ['leaves no room', { reasoning: { effort: 'high' } }, { outputTokensMax: 1_024 }],
    [
      'demands a call',
      {
        reasoning: { effort: 'high' },
        tools: [{ type: 'function', name: 'a' }],
        tool_choice: 'required',
      },
      {},
    ],
  ])('is left out where the client %s', (_, body, more) => {
    const sent = callWith(body, more);
    expect(sent).not.toHaveProperty('thinking');
    expect(sent).toMatchObject({ temperature: 0.5 });
  });

  it('goes on where a later answer of the turn has none', () => {
    const input = [{ role: 'user', content: 'Hi' }, thoughtItem, ...callItems('a')];
    for (const more of [{ accepts }, {}]) {
      const first = callWith({ ...asked, input }, more);
      const second = callWith({ ...asked, input: [...input, ...callItems('b')] }, more);
      expect(second['thinking']).toEqual(first['thinking']);
      expect(second['thinking']).toBeDefined();
      expect(JSON.stringify(second['messages'])).toContain('"signature":"signed"');
    }
  });

  it('with a budget ends where the turn began without, and its thoughts go too', () => {
    const input = [
      { role: 'user', content: 'Hi' },
      ...[...callItems('a'), thoughtItem, ...callItems('b')],
    ];
    expect(callWith({ ...asked, input }, { accepts })['thinking']).toEqual({ type: 'adaptive' });
    const sent = callWith({ ...asked, input });
    expect(sent).not.toHaveProperty('thinking');
    expect(JSON.stringify(sent['messages'])).not.toContain('"thinking"');
  });

  it('takes its thoughts with it where the client demands a call in the middle of a turn', () => {
    const input = [{ role: 'user', content: 'Hi' }, thoughtItem, ...callItems('a')];
    const sent = callWith({ ...asked, input, tool_choice: 'required' }, { accepts });
    expect(sent).not.toHaveProperty('thinking');
    expect(JSON.stringify(sent['messages'])).not.toContain('"thinking"');
  });
});
