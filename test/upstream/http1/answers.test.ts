import { describe, expect, it } from 'vitest';
import { ANSWER_VECTORS } from './answer-vectors.ts';
import { MALFORMED_VECTORS } from './malformed-vectors.ts';
import { readWithClient, readWithUndici } from './read-answers.ts';

const VECTORS = [...ANSWER_VECTORS, ...MALFORMED_VECTORS];

/** Removes the names of failures, which differ between clients. */
function generalise(reading: string): string {
  return reading.replace(/(closed_early|truncated|malformed|too_large_head)$/, 'fails');
}

describe('an answer', () => {
  for (const vector of VECTORS) {
    it(`with ${vector.name} reads ${vector.reading}`, async () => {
      expect(await readWithClient(vector)).toBe(vector.reading);
    });
  }
});

describe('undici reads the same', () => {
  for (const vector of VECTORS) {
    const { undici } = vector;
    const difference = undici === undefined ? '' : ` except that ${undici.because}`;
    it(`of ${vector.name}${difference}`, async () => {
      const reading = await readWithUndici(vector);
      expect(reading).toBe(undici?.reading ?? generalise(vector.reading));
      // A row of the table must not outlive the difference that it explains.
      if (undici !== undefined) expect(undici.reading).not.toBe(generalise(vector.reading));
    });
  }
});
