import { describe, expect, it } from 'vitest';
import {
  findReferences,
  resolveReferences,
} from '../../../../src/protocol/responses/references.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';

const refusal = (param: string, more: object) =>
  expect.objectContaining({ status: 400, param, ...more });

describe('references to earlier items', () => {
  const stored = {
    items: new Map([['msg_1', { type: 'message', role: 'assistant', content: 'Earlier' }]]),
    history: [{ role: 'user', content: 'First' }],
  };

  it('are found in any body, and only where they are', () => {
    expect(findReferences({ input: 'Hi' })).toBeUndefined();
    expect(findReferences({ input: [{ role: 'user', content: '', id: 'msg_1' }] })).toBeUndefined();
    expect(findReferences(null)).toBeUndefined();
    expect(
      findReferences({
        input: [
          { id: 'a' },
          { type: 'item_reference', id: 'b' },
          null,
          { id: 'c', status: null },
          { id: 'd', content: 'Hi' },
        ],
        previous_response_id: 'resp_1',
      }),
    ).toEqual({ itemIds: ['a', 'b', 'c'], previousResponseId: 'resp_1' });
  });

  it('are put in their place, with the earlier conversation in front', () => {
    const body = {
      ...{ model: 'haiku', previous_response_id: 'resp_1' },
      input: [
        { type: 'item_reference', id: 'msg_1' },
        { role: 'user', content: 'Go on' },
      ],
    };
    const resolved = resolveReferences(body, stored);
    const { request, response } = responsesFormat.decodeRequest(resolved, () => undefined, {
      isResolved: true,
    });
    expect(request.messages).toEqual([
      { role: 'user', content: 'First' },
      { role: 'assistant', content: [{ type: 'text', text: 'Earlier' }] },
      { role: 'user', content: 'Go on' },
    ]);
    expect(response?.previousId).toBe('resp_1');
  });

  it('are refused if they are not found', () => {
    const nothing = { items: new Map(), history: undefined };
    expect(() => resolveReferences({ input: [{ id: 'msg_1' }] }, nothing)).toThrow(
      refusal('input', { refusal: 'item_not_found' }),
    );
    expect(() => resolveReferences({ previous_response_id: 'resp_1' }, nothing)).toThrow(
      refusal('previous_response_id', { refusal: 'previous_response_not_found' }),
    );
  });
});
