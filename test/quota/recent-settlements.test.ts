import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { encodeSettlement, type Settlement } from '../../src/quota/settlement/settlement.ts';
import {
  createRecentSettlements,
  type SettlementReader,
} from '../../src/quota/settling/recent-settlements.ts';
import { makePayer, makeSettlement } from './settle-scene.ts';

const MEGABYTE = 1_024 ** 2;
const one = makeSettlement(makePayer(7));
const numbered = (number: number): Settlement => ({ ...one, actualMicros: number });

function scene({ ageMaxMs = 60_000, countMax = 1_000_000, bytesMax = 1_000 * MEGABYTE } = {}) {
  let nowMs = 1_000_000;
  const recent = createRecentSettlements({
    ...{ ageMaxMs, countMax, bytesMax },
    clock: { nowMs: () => nowMs },
  });
  return {
    recent,
    wait: (ms: number) => {
      nowMs += ms;
    },
    addAll: (from: number, count: number) => {
      for (let number = from; number < from + count; number++) recent.add(numbered(number));
    },
  };
}

function takeAll(reader: SettlementReader): number[] {
  const taken: number[] = [];
  for (let next = reader.take(); next !== undefined; next = reader.take()) {
    taken.push(next.actualMicros);
  }
  return taken;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function readHeldBytes(): number {
  collectGarbage();
  // From Node 22 on, a concurrent task frees the buffers that the first collection found. The
  // second collection waits for it.
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

describe('recent settlements', () => {
  it('are read as they were added, in their order, over many chunks', () => {
    const { recent, addAll } = scene();
    expect(recent.read().take()).toBeUndefined();
    recent.add(one);
    expect(recent.read().take()).toEqual(one);
    addAll(1, 5_000);
    const reader = recent.read();
    expect(reader.left).toBe(5_001);
    expect(takeAll(reader).slice(1)).toEqual(range(1, 5_000));
    expect(reader.left).toBe(0);
  });

  it('are read as they were when reading began', () => {
    const { recent, addAll, wait } = scene({ countMax: 3_000 });
    addAll(0, 3_000);
    const reader = recent.read();
    addAll(3_000, 9_000);
    wait(60_001);
    expect(recent.read().left).toBe(0);
    expect(takeAll(reader)).toEqual(range(0, 3_000));
  });

  it('are forgotten to the millisecond, also within a chunk', () => {
    const { recent, addAll, wait } = scene();
    addAll(0, 10);
    wait(1);
    addAll(10, 10);
    wait(59_999);
    expect(takeAll(recent.read())).toEqual(range(0, 20));
    wait(1);
    expect(takeAll(recent.read())).toEqual(range(10, 10));
    wait(1);
    expect(takeAll(recent.read())).toEqual([]);
    addAll(20, 3_000);
    expect(takeAll(recent.read())).toEqual(range(20, 3_000));
  });

  it('are the last so many', () => {
    const { recent, addAll } = scene({ countMax: 2_500 });
    addAll(0, 10_000);
    expect(takeAll(recent.read())).toEqual(range(7_500, 2_500));
  });

  it('take no more memory than they may', () => {
    const { recent } = scene({ bytesMax: MEGABYTE });
    const heldBytes = readHeldBytes();
    for (let number = 0; number < 20_000; number++) {
      recent.add({ ...numbered(number), usage: randomBytes(200) });
    }
    expect(readHeldBytes() - heldBytes).toBeLessThan(2 * MEGABYTE);
    const taken = takeAll(recent.read());
    expect(taken.at(-1)).toBe(19_999);
    expect(taken.length).toBeGreaterThan(1_000);
  });

  it('take a third of what they are, since most of each is as in the one before', () => {
    const { recent } = scene();
    const heldBytes = readHeldBytes();
    let bytes = 0;
    for (let number = 0; number < 20_000; number++) {
      const settlement = makeSettlement(makePayer(7));
      const lastKnownMs = 1_795_000_000_000 + 7 * number;
      const next = { ...settlement, actualMicros: (number * 37) % 5_000, lastKnownMs };
      recent.add(next);
      bytes += encodeSettlement(next).length;
    }
    expect(readHeldBytes() - heldBytes).toBeLessThan(bytes / 3 + MEGABYTE / 2);
    expect(recent.read().left).toBe(20_000);
  });

  it.each([0, 1, 5_000])('are let go of though they were read when there were %i', (count) => {
    const { recent, addAll } = scene({ countMax: 2_500 });
    addAll(0, count);
    const reader = recent.read();
    takeAll(reader);
    const heldBytes = readHeldBytes();
    addAll(count, 50_000);
    expect(readHeldBytes() - heldBytes).toBeLessThan(2 * MEGABYTE);
    expect(reader.left).toBe(0);
  });

  it('may be larger than a chunk', () => {
    const { recent } = scene();
    const large = { ...one, usage: Buffer.alloc(MEGABYTE, 7) };
    recent.add(one);
    recent.add(large);
    recent.add(one);
    const reader = recent.read();
    expect([reader.take(), reader.take(), reader.take()]).toEqual([one, large, one]);
  });
});
