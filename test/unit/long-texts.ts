import fc from 'fast-check';

/** Texts of 300 to about 3,000 characters, with all kinds that are written in different ways. */
const characters = fc.constantFrom(
  ...[
    'a',
    'words and ',
    '"',
    '\\',
    '\n',
    '\t',
    '/',
    '\u0000',
    '\u007f',
    'ö',
    'Ж',
    '中文',
    '\u3000',
    '🌍',
  ],
  ...['\ud83d', '\udf0d', '\ufeff', ' ', '{"text":"', '\\u00e4'],
);

const ends = fc.constantFrom(
  '',
  '.',
  ' ',
  '\n',
  '\u00a0',
  '\u3000',
  '\\',
  '"',
  'ö',
  '🌍',
  '\ud83d',
);

export const longTexts = fc
  .tuple(
    fc.array(characters, { minLength: 1, maxLength: 12 }),
    fc.integer({ min: 5, max: 300 }),
    ends,
  )
  .map(([part, times, end]) => part.join('').repeat(times) + end);
