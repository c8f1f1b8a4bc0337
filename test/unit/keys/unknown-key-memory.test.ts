import { describe, expect, it } from 'vitest';
import { createUnknownKeyMemory } from '../../../src/keys/unknown-key-memory.ts';

describe('the memory of unknown keys', () => {
  it('knows what was added for 5 seconds', () => {
    let nowMs = 0;
    const memory = createUnknownKeyMemory({ clock: { nowMs: () => nowMs } });
    expect(memory.has('a')).toBe(false);
    memory.add('a');
    nowMs = 4_999;
    expect([memory.has('a'), memory.has('b')]).toEqual([true, false]);
    nowMs = 5_000;
    expect(memory.has('a')).toBe(false);
  });

  it('holds up to 10,000 of them, those that were tried last', () => {
    const memory = createUnknownKeyMemory({ clock: { nowMs: () => 0 } });
    for (let i = 0; i < 10_000; i += 1) memory.add(`digest ${i}`);
    expect(memory.has('digest 0')).toBe(true);
    memory.add('one more');
    expect(memory.has('digest 0')).toBe(true);
    expect(memory.has('digest 1')).toBe(false);
    expect(memory.has('digest 101')).toBe(true);
    expect(memory.has('one more')).toBe(true);
  });
});
