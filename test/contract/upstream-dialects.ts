import fc from 'fast-check';

/** An event as an upstream writes it. Payloads such as `DONE` are not JSON. */
export interface WrittenEvent {
  readonly name: string | undefined;
  readonly payload: unknown;
}

/** How an upstream writes the events that all upstreams have in common. */
export interface Dialect {
  readonly lineEnd: '\n' | '\r\n' | '\r';
  readonly hasNames: boolean;
  readonly hasComments: boolean;
  readonly isIndented: boolean;
  readonly isUsageReported: boolean;
  readonly hasEnding: boolean;
  readonly hasUnknown: boolean;
  readonly end: 'whole' | 'cut' | 'error' | 'trailing';
}

export const dialects: fc.Arbitrary<Dialect> = fc.record({
  lineEnd: fc.constantFrom('\n', '\n', '\r\n', '\r'),
  hasNames: fc.boolean(),
  hasComments: fc.boolean(),
  isIndented: fc.boolean(),
  isUsageReported: fc.boolean(),
  hasEnding: fc.boolean(),
  hasUnknown: fc.boolean(),
  end: fc.constantFrom('whole', 'whole', 'cut', 'error', 'trailing'),
});

const COMMENT = ': "choices":[{}] keepalive';

export function writeEvents(events: readonly WrittenEvent[], dialect: Dialect): Uint8Array {
  const { lineEnd, hasNames, hasComments, isIndented } = dialect;
  const frames = events.map(({ name, payload }) => {
    const json = isIndented ? JSON.stringify(payload, null, 1) : JSON.stringify(payload);
    const data = typeof payload === 'string' ? payload : json;
    const lines = [
      ...(hasComments ? [COMMENT] : []),
      ...(hasNames && name !== undefined ? [`event: ${name}`] : []),
      ...data.split('\n').map((line) => `data: ${line}`),
      '',
      ...(hasComments ? [COMMENT, ''] : []),
    ];
    return lines.map((line) => line + lineEnd).join('');
  });
  return new TextEncoder().encode(frames.join(''));
}

/** The places where a stream is cut into chunks. */
export const places = fc.array(fc.nat(20_000), { maxLength: 8 });

/** Contents of JSON strings between their quotes. */
export const jsonTexts = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .string({ unit: 'grapheme', maxLength: 12 })
      .map((text) => JSON.stringify(text).slice(1, -1)),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'Hello',
      ' there',
      'ö',
      '🌍',
      '',
      '\\n',
      '\\"',
      '\\\\',
      '\\/',
      '\\u00e9',
      '\\ud83c\\udf0d',
      '\\ud83c',
    ),
  },
  // Invalid JSON, which a parser refuses.
  { weight: 1, arbitrary: fc.constantFrom('\t', '\\x', '\\', 'a"b') },
);
