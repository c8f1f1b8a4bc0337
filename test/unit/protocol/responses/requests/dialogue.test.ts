import { describe, expect, it } from 'vitest';
import { Dialogue } from '../../../../../src/protocol/responses/requests/dialogue.ts';

describe('the id of a call', () => {
  it('may come any number of times, and costs no more each time', () => {
    const count = 100_000;
    const dialogue = new Dialogue();
    for (const id of ['c_7', ...Array<string>(count).fill('c')]) dialogue.addCall(id, 'a', {});
    const said = dialogue
      .end()
      .flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const ids = said.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    expect(ids.slice(0, 3)).toEqual(['c_7', 'c', 'c_1']);
    expect(new Set(ids).size).toBe(count + 1);
  });
});
