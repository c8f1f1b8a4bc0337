import { expect, it } from 'vitest';
import { decodeRequest } from '../../../../src/protocol/embeddings/decode-request.ts';

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

interface Asked {
  readonly count: number;
  readonly dimensions: number;
  readonly encoding: string;
}

function decode({ count, dimensions, encoding }: Asked, more: object = {}) {
  const input = Array(count).fill('a');
  return decodeRequest({ model: 'embed', input, dimensions, encoding_format: encoding, ...more });
}

/** The bytes of the shortest answer that can be. */
function countShortest({ count, dimensions, encoding }: Asked): number {
  const numbers = `[${Array(dimensions).fill(0).join()}]`;
  const floats = JSON.stringify(Buffer.alloc(4 * dimensions).toString('base64'));
  const entry = `{"embedding":${encoding === 'float' ? numbers : floats}}`;
  return `{"data":[${Array(count).fill(entry).join()}]}`.length;
}

it.each([
  { count: 2_045, dimensions: 3_072, encoding: 'base64' },
  { count: 2_046, dimensions: 8_192, encoding: 'float' },
])('lets $count vectors of $dimensions numbers in $encoding through, and no more', (most) => {
  expect(countShortest(most)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
  expect(decode(most).request.embeds).toMatchObject({ dimensions: most.dimensions });
  const beyond = { ...most, count: most.count + 1 };
  expect(countShortest(beyond)).toBeGreaterThan(ANSWER_BYTES_MAX);
  expect(() => decode(beyond)).toThrow(
    expect.objectContaining({
      refusal: 'invalid_request',
      param: 'input',
      message: expect.stringMatching(/33554432 bytes.*several requests/),
    }),
  );
});

it('lets through what may come in a shorter form, or in a length that nobody knows yet', () => {
  const beyond = { count: 2_048, dimensions: 3_072, encoding: 'base64' };
  expect(() => decode(beyond)).toThrow();
  expect(() => decode(beyond, { output_dtype: 'int8' })).not.toThrow();
  expect(() => decode(beyond, { dimensions: null })).not.toThrow();
});
