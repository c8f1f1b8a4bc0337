import { describe, expect, it } from 'vitest';
import { nearestWord } from '../../../src/lib/nearest-word.ts';

describe('nearestWord', () => {
  const words = ['listen', 'limits', 'redis', 'url', 'api_key'];

  it('finds a word with a letter left out, added, changed or swapped', () => {
    expect(
      ['lisen', 'limitss', 'rebis', 'ulr', 'apikey'].map((word) => nearestWord(word, words)),
    ).toEqual(['listen', 'limits', 'redis', 'url', 'api_key']);
  });

  it('suggests nothing that is far away', () => {
    expect(nearestWord('upstream', words)).toBeUndefined();
    expect(nearestWord('uri_x', words)).toBeUndefined();
    expect(nearestWord('', words)).toBeUndefined();
  });

  it('prefers the nearest of several', () => {
    expect(nearestWord('wird', ['word', 'wind', 'wir'])).toBe('word');
    expect(nearestWord('limit', ['limpit', 'limit'])).toBe('limit');
  });
});
