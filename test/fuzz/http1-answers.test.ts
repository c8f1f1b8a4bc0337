import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertAsyncInTime, assertInTime } from '../support/time/assert-in-time.ts';
import {
  type Question,
  type Reading,
  readWithReader,
  readWithUndici,
} from '../upstream/http1/read-in-memory.ts';

const FUZZ_TIME_MS = 4_000;

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789-_.!~';
const name = fc
  .string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 12 })
  .map((text) => `x-${text}`);
/** ASCII only, because undici decodes other bytes as UTF-8. */
const value = fc
  .string({ unit: fc.constantFrom(...letters, ' ', '\t', '"', ':', ',', '(', '\\'), maxLength: 20 })
  .map((text) => text.replace(/^[ \t]+|[ \t]+$/g, ''));
const space = fc.constantFrom('', ' ', '  ', '\t');
const header = fc.record({ name, value, before: space, after: space });
const chunk = fc.record({
  text: fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 }),
  zeros: fc.constantFrom('', '0', '00'),
  isUpper: fc.boolean(),
  extension: fc.constantFrom('', ';a', ';a=b', ';a="b c"', ';a=b;c=d'),
});
const trailers = fc.array(fc.constantFrom('x-t: 1\r\n', 'x-u:\r\n'), { maxLength: 2 });

const framed = fc.oneof(
  fc.string({ unit: 'binary-ascii', maxLength: 60 }).map((body) => ({
    header: `content-length: ${body.length}`,
    bytes: body,
    body,
  })),
  fc.tuple(fc.array(chunk, { maxLength: 5 }), trailers).map(([chunks, lines]) => ({
    header: 'Transfer-Encoding: chunked',
    bytes: `${chunks.map(encodeChunk).join('')}0\r\n${lines.join('')}\r\n`,
    body: chunks.map(({ text }) => text).join(''),
  })),
  fc.string({ unit: 'binary-ascii', maxLength: 60 }).map((body) => ({
    header: 'connection: close',
    bytes: body,
    body,
  })),
);

function encodeChunk({
  text,
  zeros,
  isUpper,
  extension,
}: typeof chunk extends fc.Arbitrary<infer C> ? C : never): string {
  const size = text.length.toString(16);
  return `${zeros}${isUpper ? size.toUpperCase() : size}${extension}\r\n${text}\r\n`;
}

interface Answer {
  readonly question: Question;
  readonly text: string;
  readonly expected: Reading;
}

/** A valid answer and its meaning. */
const answers: fc.Arbitrary<Answer> = fc
  .record({
    isHead: fc.boolean(),
    status: fc.constantFrom(200, 201, 206, 400, 404, 429, 500, 529, 599, 204, 304),
    reason: fc.constantFrom('', ' ', ' OK', ' Not Found', ' a  b\tc'),
    informational: fc.array(fc.constantFrom(102, 103, 199), { maxLength: 2 }),
    headers: fc.array(header, { maxLength: 6 }),
    framed,
    isFramedFirst: fc.boolean(),
  })
  .map((parts) => {
    const { framed: frame, status } = parts;
    const question: Question = {
      method: parts.isHead ? 'HEAD' : 'GET',
      names: [...new Set(parts.headers.map((each) => each.name))],
    };
    const hasBody = !parts.isHead && status !== 204 && status !== 304;
    const lines = parts.headers.map(
      (each) => `${each.name}:${each.before}${each.value}${each.after}`,
    );
    // undici rejects an answer that states a length although it may not have a body.
    if (hasBody || !frame.header.startsWith('content-length')) {
      if (parts.isFramedFirst) lines.unshift(frame.header);
      else lines.push(frame.header);
    }
    const before = parts.informational.map((number) => `HTTP/1.1 ${number} x\r\nx-a: b\r\n\r\n`);
    const head = [`HTTP/1.1 ${status}${parts.reason}`, ...lines].join('\r\n');
    const values = question.names.map(
      (each) => parts.headers.find((candidate) => candidate.name === each)?.value,
    );
    const body = hasBody ? frame.body : '';
    return {
      question,
      text: `${before.join('')}${head}\r\n\r\n${hasBody ? frame.bytes : ''}`,
      expected: { status, values, body, isComplete: true },
    };
  });

const places = fc.array(fc.nat(10_000), { maxLength: 8 });

const change = fc.record({
  kind: fc.constantFrom('insert', 'replace', 'delete', 'repeat', 'cut'),
  at: fc.nat(10_000),
  length: fc.integer({ min: 1, max: 30 }),
  bytes: fc.oneof(
    fc.constantFrom(...'\r\n\t \0:;,+-0123456789abfx/.'),
    fc.constantFrom(
      '\r\n',
      '\r\n\r\n',
      '\n\n',
      '\x7f',
      '\xff',
      'chunked',
      '\r\n ',
      '\r',
      'HTTP/1.1 ',
    ),
    fc.constantFrom(
      ...['content-length: 3\r\n', 'content-length: 0\r\n', 'transfer-encoding: chunked\r\n'],
      ...['transfer-encoding: gzip\r\n', 'connection: close\r\n', 'connection: keep-alive\r\n'],
    ),
  ),
});

type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

function mutate(text: string, { kind, at, length, bytes }: Change): string {
  const place = at % (text.length + 1);
  const [before, after] = [text.slice(0, place), text.slice(place)];
  switch (kind) {
    case 'insert':
      return before + bytes + after;
    case 'replace':
      return before + bytes + after.slice(bytes.length);
    case 'delete':
      return before + after.slice(length);
    case 'repeat':
      return before + after.slice(0, length) + after;
    default:
      return before;
  }
}

const changedAnswers = fc
  .tuple(answers, fc.array(change, { minLength: 1, maxLength: 3 }))
  .map(([{ question, text }, changes]) => ({ question, text: changes.reduce(mutate, text) }));

/** The bytes around the piece expose a reader that reads beyond it. */
function cut(text: string, ends: readonly number[]): Buffer[] {
  const bytes = Buffer.from(`\r\n\r\n${text}\r\n\r\n`, 'latin1').subarray(4, 4 + text.length);
  const sorted = [...ends.map((end) => end % (bytes.length + 1)), bytes.length];
  sorted.sort((a, b) => a - b);
  return sorted.map((end, i) => bytes.subarray(i === 0 ? 0 : sorted[i - 1], end));
}

describe('the reader of answers', () => {
  it('reads valid answers as undici does, wherever they are cut', async () => {
    await assertAsyncInTime(
      fc.asyncProperty(answers, places, async ({ question, text, expected }, ends) => {
        const reading = readWithReader(cut(text, ends), question);
        expect(reading).toEqual({ ...expected, isFollowed: false });
        expect(await readWithUndici(Buffer.from(text, 'latin1'), question)).toEqual(expected);
      }),
      { numRuns: 1_000, timeMs: FUZZ_TIME_MS },
    );
  });

  it('reads changed answers as undici does, or refuses for a reason of its list', async () => {
    await assertAsyncInTime(
      fc.asyncProperty(changedAnswers, places, async ({ question, text }, ends) => {
        const { isFollowed, ...ours } = readWithReader(cut(text, ends), question);
        const theirs = await readWithUndici(Buffer.from(text, 'latin1'), question);
        if (ours.isComplete && theirs.isComplete) {
          if (findReasons(BOTH_DIFFER, text).length === 0) expect(ours).toEqual(theirs);
        } else if (theirs.isComplete) expect(findReasons(OURS_IS_STRICTER, text)).not.toEqual([]);
        else if (ours.isComplete && !isFollowed) {
          expect(findReasons(UNDICI_IS_STRICTER, text)).not.toEqual([]);
        }
      }),
      { numRuns: 1_500, timeMs: FUZZ_TIME_MS },
    );
  });

  it('reads any bytes one by one as it reads them at once', () => {
    const pieces = fc.array(
      fc.constantFrom(
        ...'HTTP/1.1 200',
        '\r\n',
        '\r',
        '\n',
        'content-length: 3',
        ':',
        'abc',
        '\xff',
      ),
      { maxLength: 40 },
    );
    const texts = fc.oneof(
      changedAnswers.map(({ text }) => text),
      fc.tuple(answers, pieces).map(([{ text }, noise]) => text + noise.join('')),
      pieces.map((noise) => noise.join('')),
      fc.string({ unit: 'binary', maxLength: 60 }),
    );
    assertInTime(
      fc.property(texts, fc.constantFrom<'GET' | 'HEAD'>('GET', 'HEAD'), (text, method) => {
        const question: Question = { method, names: ['x-a', 'content-length'] };
        const bytes = [...Buffer.from(text, 'latin1')].map((byte) => Buffer.from([byte]));
        expect(readWithReader(bytes, question)).toEqual(readWithReader(cut(text, []), question));
      }),
      { numRuns: 1_000, timeMs: FUZZ_TIME_MS },
    );
  });
});

type Reasons = Readonly<Record<string, (text: string) => boolean>>;

/** Reasons why a changed answer may be complete for both readers but differ between them. */
const BOTH_DIFFER: Reasons = {
  'a tab behind the encoding, which undici takes for a part of it': hasTabBehindEncoding,
};

/** Reasons why a changed answer may be complete for undici alone. */
const OURS_IS_STRICTER: Reasons = {
  'a tab behind the encoding, before chunks that are none': hasTabBehindEncoding,
  'more than one length or encoding': (text) =>
    (text.match(/^(content-length|transfer-encoding):/gim) ?? []).length > 1,
  'an encoding other than chunked': (text) =>
    /^transfer-encoding:(?![ \t]*chunked[ \t]*\r\n)/im.test(text),
  'an encoding in HTTP/1.0': (text) =>
    /^HTTP\/1\.0/m.test(text) && /^transfer-encoding:/im.test(text),
  'a length of more than 15 digits': (text) => /^content-length:[ \t]*\d{16}/im.test(text),
  'a version other than 1.0 and 1.1': (text) => /^HTTP\/(?!1\.[01])/m.test(text),
  'a status outside of 100 to 599': (text) => /^HTTP\/1\.[01] [06-9]/m.test(text),
  'a control character in the reason': (text) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /^HTTP\/1\.[01] \d{3} .*[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/m.test(text),
  'a carriage return alone in the status line': (text) =>
    /^HTTP\/1\.[01] \d{3}[^\n]*\r(?!\n)/m.test(text),
  'a control character in a chunk extension': (text) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /^[0-9a-f]+;.*[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/im.test(text),
  'an empty line before a head': (text) => /(^|\r\n\r\n)[\r\n]+HTTP/.test(text),
};

/** Reasons why a changed answer may be complete for our reader alone. */
const UNDICI_IS_STRICTER: Reasons = {
  'a length where there is no body': (text) =>
    /^HTTP\/1\.[01] (204|304)/m.test(text) && /^content-length:/im.test(text),
  '100, which it did not ask for': (text) => /^HTTP\/1\.[01] 100/m.test(text),
  'chunk extensions, which our reader skips': (text) => /^[0-9a-f]+;/im.test(text),
  'trailers, which our reader skips': (text) =>
    /^0+(?:;.*)?\r\n(?:.*\r\n)*?(content-length|transfer-encoding|connection):/im.test(text),
  'what frames a body in a 1xx head, which has none': (text) =>
    /^HTTP\/1\.[01] 1(?:(?!\r\n\r\n).)*\r\n(content-length|transfer-encoding|connection):/ims.test(
      text,
    ),
  'a 1xx head of HTTP/1.0, behind which undici expects the end': (text) =>
    /^HTTP\/1\.0 1/m.test(text),
  'a tab behind the length': (text) => /^content-length:[ \t]*\d+ *\t/im.test(text),
};

function hasTabBehindEncoding(text: string): boolean {
  return /^transfer-encoding:.*\t *\r\n/im.test(text);
}

function findReasons(reasons: Reasons, text: string): string[] {
  return Object.entries(reasons)
    .filter(([, applies]) => applies(text))
    .map(([reason]) => reason);
}
