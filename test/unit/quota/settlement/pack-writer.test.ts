import fc from 'fast-check';
import { unpack } from 'msgpackr';
import { expect, it } from 'vitest';
import { PackWriter } from '../../../../src/quota/settlement/pack-writer.ts';

type Value = null | boolean | number | string | Uint8Array | readonly Value[];

const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true }), fc.nat(300), fc.nat(70_000)),
    fc.constantFrom(127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, -1),
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.nat(400).map((n) => 'x'.repeat(n)),
    ),
    fc.uint8Array({ maxLength: 400 }),
    fc.array(tie('value'), { maxLength: 20 }),
  ),
}));

function write(writer: PackWriter, each: Value): void {
  if (each === null) writer.nothing();
  else if (typeof each === 'boolean') writer.flag(each);
  else if (typeof each === 'number') writer.number(each);
  else if (typeof each === 'string') writer.text(each);
  else if (each instanceof Uint8Array) writer.bytes(each);
  else {
    writer.list(each.length);
    for (const item of each) write(writer, item);
  }
}

const comparable = (each: unknown): unknown => {
  if (each instanceof Uint8Array) return `bytes ${Buffer.from(each).toString('hex')}`;
  if (Array.isArray(each)) return each.map(comparable);
  // Adding 0 turns -0 into 0, since both have the same meaning.
  return typeof each === 'number' ? each + 0 : each;
};

it('what it writes is MessagePack that reads as the same values', () => {
  const writer = new PackWriter();
  fc.assert(
    fc.property(value, (each) => {
      write(writer, each);
      expect(comparable(unpack(writer.take()))).toEqual(comparable(each));
    }),
  );
});

it('a record whose writing threw leaves nothing in the next one', () => {
  const writer = new PackWriter();
  write(writer, ['taken']);
  writer.take();
  writer.list(2);
  writer.text('half of it');
  expect(() => writer.text(undefined as unknown as string)).toThrow(TypeError);
  writer.begin();
  write(writer, ['whole']);
  expect(unpack(writer.take())).toEqual(['whole']);
});
