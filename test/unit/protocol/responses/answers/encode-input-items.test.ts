import { describe, expect, it } from 'vitest';
import { encodeInputItems } from '../../../../../src/protocol/responses/answers/encode-input-items.ts';
import type { ResponseItem } from '../../../../../src/protocol/responses/references.ts';

function listPage(input: readonly ResponseItem[], query: Readonly<Record<string, string>>) {
  return encodeInputItems('resp_1', input, (name) => query[name]);
}

describe('what a response was asked', () => {
  it('can be read page by page, whatever ids the items came with', () => {
    const ids = ['a', 'a', '', '', 7, null, undefined, 'b'];
    const input = ids.map((id, number) => ({ role: 'user', content: [], id, number }));
    const read: unknown[] = [];
    let after: string | undefined;
    for (let pages = 0; pages < ids.length; pages++) {
      const asked = { limit: '1', order: 'asc', ...(after !== undefined && { after }) };
      const { data, last_id: last, has_more: hasMore } = listPage(input, asked);
      read.push(...data.map((item) => Object(item).number));
      expect(hasMore).toBe(pages < ids.length - 1);
      expect(last).toBeTruthy();
      after = String(last);
    }
    expect(read).toEqual(input.map(({ number }) => number));
  });

  it('has its texts in parts, as clients read them', () => {
    const input = [
      { role: 'user', content: 'Hello' },
      { type: 'message', role: 'assistant', content: 'Hi' },
      { type: 'function_call_output', call_id: 'c', output: 'Sunny' },
    ];
    expect(listPage(input, { order: 'asc' }).data).toMatchObject([
      { type: 'message', content: [{ type: 'input_text', text: 'Hello' }] },
      { content: [{ type: 'output_text', text: 'Hi', annotations: [] }] },
      { type: 'function_call_output', output: 'Sunny' },
    ]);
  });
});
