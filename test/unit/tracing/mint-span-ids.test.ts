import { expect, it } from 'vitest';
import { mintSpanId, mintTraceId } from '../../../src/tracing/mint-span-ids.ts';

it('ids have the form of fresh random bytes in hexadecimal, and none comes twice', () => {
  const ids = new Set<string>();
  for (let i = 0; i < 2_000; i += 1) {
    const [span, trace] = [mintSpanId(), mintTraceId()];
    expect(span).toMatch(/^[0-9a-f]{16}$/);
    expect(trace).toMatch(/^[0-9a-f]{32}$/);
    for (const id of [span, trace.slice(0, 16), trace.slice(16)]) ids.add(id);
  }
  expect(ids.size).toBe(6_000);
});
