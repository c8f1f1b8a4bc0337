import { describe, expect, it } from 'vitest';
import { refuseThought } from '../../../../src/protocol/fields/refuse-thought.ts';

describe('the refusal of a thought', () => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sealed' };
  const body = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [thought] },
    ],
  };

  it('names the block of a native client, in the words by which agents know what to do', () => {
    const refusal = refuseThought(body, 'sealed', 'it was changed');
    expect(refusal.param).toBe('messages.1.content.0.signature');
    expect(refusal.message).toBe(
      'messages.1.content.0.signature: Invalid `signature` in `thinking` block: it was changed. Leave the block out, and the model goes on without this thought.',
    );
    expect(refusal.message).toMatch(/invalid `?signature`? in `?thinking`? block/i);
  });

  it('names the item of a Responses client', () => {
    const input = [{ type: 'reasoning', encrypted_content: 'sealed' }];
    expect(refuseThought({ input }, 'sealed', 'it was changed').chatMessage).toBe(
      "Invalid value for 'input[0].encrypted_content': it was changed. Leave the item out, and the model goes on without this thought.",
    );
  });
});
