import { describe, expect, it } from 'vitest';
import { encodeDamagedLine, parseLedgerLine } from '../../src/ledger/ledger-entry.ts';
import { createLineBlocks } from '../../src/ledger/line-blocks.ts';
import { createSegmentBatch } from '../../src/ledger/segment-batch.ts';
import { encodeLedgerUsage } from '../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../support/request-details.ts';
import { USAGE } from './ledger-scene.ts';

const fieldsOf = (text: string, usage: Buffer | string) => [
  ...[Buffer.from('entry'), Buffer.from(text)],
  ...[Buffer.from('usage'), Buffer.from(usage)],
];

describe('what the next segment will hold', () => {
  it('has requests, payments and what cannot be decoded, each as a line in its place', () => {
    const batch = createSegmentBatch(new Map([[7, '5-0']]), createLineBlocks());
    const damaged = fieldsOf('charge|a|k|202611|m|1|half|0|3|r2', '');
    const usage = encodeLedgerUsage(USAGE, true, DETAILS);
    const page = [
      { id: '1760000000000-0', fields: fieldsOf('charge|a|k|202611|m|1|2|0|3|r1', usage) },
      { id: '1760000000000-1', fields: damaged },
      { id: '1760000001000-0', fields: fieldsOf('topup|a||||0|-5|0|5|p|1', 'für Ünal') },
    ];
    expect(batch.add(7, page)).toBe(1);
    expect(batch.add(8, [])).toBe(0);
    const bytes = Buffer.concat(batch.chunks());
    const [charge = '', second, topup = '', end] = bytes.toString().split('\n');
    expect(parseLedgerLine(charge)).toMatchObject({ request: 'r1', charged_micros: 2 });
    expect(second).toBe(encodeDamagedLine(7, '1760000000000-1', damaged));
    expect(parseLedgerLine(topup)).toMatchObject({ request: 'p|1', note: 'für Ünal' });
    expect(end).toBe('');
    expect(batch).toMatchObject({ entries: 3, bytes: bytes.length });
    expect([...batch.before]).toEqual([[7, '5-0']]);
    expect([...batch.after]).toEqual([[7, '1760000001000-0']]);
  });
});

describe('lines outside of the heap', () => {
  it('stand one behind the other, however long they are', () => {
    const blocks = createLineBlocks();
    const lengths = [0, 1, 700, 262_143, 262_144, 3, 1_000_000, 90_000, 90_000, 90_000, 5];
    const lines = lengths.map((length, i) => (i % 2 === 0 ? 'x' : 'ü€😀').repeat(length));
    for (const line of lines) blocks.add(line);
    const bytes = Buffer.concat(blocks.filled());
    expect(bytes.equals(Buffer.from(lines.map((line) => `${line}\n`).join('')))).toBe(true);
    expect(blocks.bytes).toBe(bytes.length);
    expect(createLineBlocks().filled()).toEqual([]);
  });

  it('begin anew in the same memory, but for lines longer than a piece of it', () => {
    const blocks = createLineBlocks();
    const memories: Set<ArrayBufferLike>[] = [];
    for (const letter of ['a', 'b', 'c']) {
      for (let i = 0; i < 1_000; i++) blocks.add(letter.repeat(1_000 + i));
      blocks.add(letter.repeat(500_000));
      const bytes = Buffer.concat(blocks.filled());
      expect(bytes.length).toBe(blocks.bytes);
      expect(bytes.toString().replaceAll('\n', '')).toMatch(new RegExp(`^${letter}+$`));
      memories.push(new Set(blocks.filled().map(({ buffer }) => buffer)));
      blocks.clear();
      expect([blocks.bytes, blocks.filled()]).toEqual([0, []]);
    }
    const [first = new Set(), ...later] = memories;
    for (const memory of later) {
      expect([...memory].filter((buffer) => !first.has(buffer))).toHaveLength(1);
    }
  });
});
