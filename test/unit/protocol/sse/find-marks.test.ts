import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import loadWabt from 'wabt';
import { FIND_MARKS_WASM, MarkReader } from '../../../../src/protocol/sse/find-marks.ts';

const SOURCE = 'src/protocol/sse/find-marks.wat';

interface Mark {
  readonly place: number;
  readonly shortEscapes: number;
}

function readMarks(bytes: Uint8Array): Mark[] {
  const reader = new MarkReader(bytes);
  const marks: Mark[] = [];
  for (let place = reader.next(); place < bytes.length; place = reader.next()) {
    marks.push({ place, shortEscapes: reader.shortEscapes });
  }
  expect(reader.next()).toBe(bytes.length);
  return marks;
}

/** Reads one byte after the other. */
function findMarks(bytes: Uint8Array): Mark[] {
  const marks: Mark[] = [];
  let shortEscapes = 0;
  for (let place = 0; place < bytes.length; place++) {
    const char = String.fromCharCode(bytes[place] ?? 0);
    if (char === '\\') {
      const isShort = '"\\/bfnrt'.includes(String.fromCharCode(bytes[place + 1] ?? 0));
      if (isShort) shortEscapes += 1;
      else marks.push({ place, shortEscapes });
      place += 1;
    } else if (char === '"' || char < ' ') marks.push({ place, shortEscapes });
  }
  return marks;
}

const WINDOW_BYTES = 32 * 1024;
const pieces = fc.array(
  fc.constantFrom(
    '"',
    '\\',
    '\\\\',
    '\\"',
    '\\n',
    '\\u00e4',
    '\n',
    'a',
    'ö',
    '/',
    '0123456789abcdef',
  ),
  { maxLength: 60 },
);

describe('the finder of marks', () => {
  it('is what its source says', async () => {
    const wabt = await loadWabt();
    const module = wabt.parseWat(SOURCE, readFileSync(SOURCE, 'utf8'), { simd: true });
    const { buffer } = module.toBinary({});
    expect(Buffer.from(buffer).toString('base64')).toBe(FIND_MARKS_WASM);
  });

  it('finds what a look at each byte finds', () => {
    fc.assert(
      fc.property(pieces, (all) => {
        const bytes = Buffer.from(all.join(''));
        expect(readMarks(bytes)).toEqual(findMarks(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  it('goes on from one window to the next, whatever is cut by its end', () => {
    fc.assert(
      fc.property(
        pieces,
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 2 }),
        (all, before, windows) => {
          const filling = 'x'.repeat(windows * WINDOW_BYTES - before);
          const bytes = Buffer.from(`"${filling}${all.join('')}"`);
          expect(readMarks(bytes)).toEqual(findMarks(bytes));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('finds each byte of a text that is nothing else', () => {
    const bytes = Buffer.alloc(3 * WINDOW_BYTES + 5, '"');
    expect(readMarks(bytes)).toHaveLength(bytes.length);
  });

  it('lets nobody read on whose marks another reader has overwritten', () => {
    const bytes = Buffer.from('"a"');
    const first = new MarkReader(bytes);
    first.next();
    readMarks(bytes);
    expect(() => {
      while (first.next() < bytes.length);
    }).toThrow('another reader is in use');
  });
});
