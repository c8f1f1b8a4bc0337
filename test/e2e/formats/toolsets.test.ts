import { describe, expect, it } from 'vitest';
import { useCrossing } from '../../support/upstreams/use-crossing.ts';

const { ask, sent } = useCrossing();

const TOOLS = [
  { type: 'computer_toolset_20260801' },
  { type: 'browser_toolset_20260801', configs: { read_network: { enabled: true } } },
  { name: 'look', input_schema: { type: 'object' } },
];
const NAMED = { toolset_name: 'computer' };
const MESSAGES = [
  { role: 'user', content: 'What do you see?' },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'screenshot', input: {}, ...NAMED }],
  },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'A desk.', ...NAMED }],
  },
];

describe('a set of tools, whose names its vendor alone knows', () => {
  it('reaches a native upstream as it came, with the calls of its tools and their results', async () => {
    const asked = { messages: MESSAGES, tools: TOOLS };
    expect((await ask('native', 'native', asked)).status).toBe(200);
    expect(sent()).toMatchObject(asked);
    // This upstream takes no such message, so its body is written anew.
    const messages = [...MESSAGES, { role: 'system', content: 'Be brief.' }];
    expect((await ask('native', 'plain-native', { ...asked, messages })).status).toBe(200);
    expect(sent()).toMatchObject({
      tools: TOOLS,
      messages: [...MESSAGES, { role: 'user', content: 'Be brief.' }],
    });
  });

  it('may have the tool in it that a native upstream is to call', async () => {
    const asked = { messages: MESSAGES, tool_choice: { type: 'tool', name: 'left_click' } };
    expect((await ask('native', 'native', { ...asked, tools: TOOLS })).status).toBe(200);
    expect(sent()).toMatchObject(asked);
    const refused = await ask('native', 'native', { ...asked, tools: TOOLS.slice(2) });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("Tool 'left_click' not found in provided tools");
  });

  it.each(['chat', 'responses'])('is refused for a %s upstream', async (model) => {
    const { status, text } = await ask('native', model, { messages: MESSAGES, tools: TOOLS });
    expect(status).toBe(400);
    expect(text).toContain(
      'tools.0: this model does not take tools of type `computer_toolset_20260801`',
    );
  });
});
