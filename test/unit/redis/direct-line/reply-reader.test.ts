import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ErrorReply,
  type Reply,
  ReplyReader,
} from '../../../../src/redis/direct-line/reply-reader.ts';

const { reply } = fc.letrec<{ reply: Reply }>((tie) => ({
  reply: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('', '\r\n', '$3\r\nabc\r\n', ':1\r\n'),
    fc.maxSafeInteger(),
    fc.constant(null),
    fc.array(tie('reply'), { maxLength: 5 }),
  ),
}));

function encode(value: Reply): string {
  if (value === null) return '$-1\r\n';
  if (typeof value === 'number') return `:${value}\r\n`;
  if (typeof value === 'string') return `$${Buffer.byteLength(value)}\r\n${value}\r\n`;
  if (value instanceof ErrorReply) return `-${value.message}\r\n`;
  return `*${value.length}\r\n${value.map(encode).join('')}`;
}

function readAll(pieces: readonly Buffer[]): Reply[] {
  const reader = new ReplyReader();
  const replies: Reply[] = [];
  for (const piece of pieces) reader.read(piece, (each) => replies.push(each));
  return replies;
}

describe('replies', () => {
  it('are read alike however their bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(reply, { maxLength: 6 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (replies, cuts) => {
          const bytes = Buffer.from(replies.map(encode).join(''));
          const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort(
            (a, b) => a - b,
          );
          const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
          expect(readAll(pieces)).toEqual(replies);
        },
      ),
    );
  });

  it('may be a status, an error, or a list that is none', () => {
    const [status, error, none] = readAll([Buffer.from('+OK\r\n-NOSCRIPT no žába\r\n*-1\r\n')]);
    expect(status).toBe('OK');
    expect(error).toBeInstanceOf(ErrorReply);
    expect((error as ErrorReply).message).toBe('NOSCRIPT no žába');
    expect(none).toBeNull();
  });

  it.each(['HTTP/1.1 400\r\n', ':12x\r\n', '$\n\r\n'])(
    'are refused when they are none: %j',
    (text) => {
      expect(() => readAll([Buffer.from(text)])).toThrow('not a');
    },
  );
});
