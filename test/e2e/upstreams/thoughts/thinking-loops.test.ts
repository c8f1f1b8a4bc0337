import { describe, expect, it } from 'vitest';
import { useCrossing } from '../../../support/upstreams/use-crossing.ts';

const { ask, sent } = useCrossing();

const thought = { type: 'thinking', thinking: 'Hm.', signature: 'signed' };
const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'Seen' }],
});
const clearing = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };

/** A native client whose model had nothing to think about before its second call. */
const LOOP = {
  context_management: clearing,
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [thought, use('a')] },
    result('a'),
    { role: 'assistant', content: [{ type: 'text', text: 'So' }, use('b')] },
    result('b'),
    { role: 'system', content: 'Mind the gap.' },
  ],
};

describe('a tool loop at a native upstream that takes no system messages', () => {
  it('goes on with adaptive thinking and its thoughts, though an answer in it has none', async () => {
    const thinking = { type: 'adaptive' };
    expect((await ask('native', 'plain-native', { ...LOOP, thinking })).status).toBe(200);
    expect(sent()).toMatchObject({ thinking, context_management: clearing });
    expect(sent()['messages']).toEqual([
      ...LOOP.messages.slice(0, -1),
      { role: 'user', content: 'Mind the gap.' },
    ]);
  });
});
