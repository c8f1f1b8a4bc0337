import { describe, expect, it } from 'vitest';
import { asksToThink } from '../../../src/protocol/asks-to-think.ts';

describe('a request asks its model to think', () => {
  it.each([
    { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    { thinking: { type: 'adaptive' } },
    { thinking: { type: 'of_tomorrow' } },
    { output_config: { effort: 'high' } },
    { reasoning_effort: 'low' },
    { reasoning: { effort: 'high' } },
    { reasoning: { max_tokens: 2_000 } },
    { enable_thinking: true },
    { chat_template_kwargs: { enable_thinking: true } },
    { chat_template_kwargs: { thinking: true } },
    { thinking_budget: 2_000 },
    { include_reasoning: false },
  ])('with %j', (fields) => {
    expect(asksToThink({ model: 'm', ...fields })).toBe(true);
  });

  it.each([
    {},
    { thinking: null },
    { thinking: { type: 'disabled' } },
    { output_config: { format: { type: 'json_schema', schema: {} } } },
    { output_config: null },
    { reasoning_effort: 'none' },
    { reasoning_effort: null },
    { reasoning: { effort: 'none' } },
    { reasoning: { enabled: false } },
    { enable_thinking: false },
    { chat_template_kwargs: { enable_thinking: false, thinking: false } },
    { chat_template_kwargs: { of_tomorrow: true } },
    { chat_template_kwargs: null },
    { thinking_budget: 0 },
    { thinking_budget: null },
    { include_reasoning: true },
  ])('not with %j', (fields) => {
    expect(asksToThink({ model: 'm', ...fields })).toBe(false);
  });
});
