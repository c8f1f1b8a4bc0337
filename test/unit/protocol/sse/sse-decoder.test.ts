import { describe, expect, it } from 'vitest';
import { createSseDecoder, SSE_EVENT_BYTES_MAX } from '../../../../src/protocol/sse/sse-decoder.ts';

const encode = (text: string) => new TextEncoder().encode(text);

function decode(...chunks: string[]) {
  const decoder = createSseDecoder();
  return [...chunks.flatMap((chunk) => decoder.push(encode(chunk))), ...decoder.end()];
}

describe('a stream of server-sent events', () => {
  it('may end its lines in any of three ways', () => {
    const events = [
      { event: 'a', data: '1' },
      { event: undefined, data: '2' },
    ];
    for (const end of ['\n', '\r', '\r\n']) {
      expect(decode(`event: a${end}data: 1${end}${end}data:2${end}${end}`)).toEqual(events);
    }
  });

  it('may be cut between the two halves of a line end', () => {
    expect(decode('data: 1\r', '\ndata: 2\r', '\n\r', '\n')).toEqual([
      { event: undefined, data: '1\n2' },
    ]);
  });

  it('gives an event as soon as its last line is complete', () => {
    const decoder = createSseDecoder();
    expect(decoder.push(encode('data: 1\r\n\r'))).toHaveLength(1);
    expect(decoder.push(encode('\n'))).toEqual([]);
  });

  it('joins several data lines and takes away one space only', () => {
    expect(decode('data:  a\ndata\ndata:b\n\n')).toEqual([{ event: undefined, data: ' a\n\nb' }]);
  });

  it('may have comments, unknown fields and events without data', () => {
    expect(decode(': hi\nid: 7\nretry: 5\nfoo\nevent: a\n\n:\n\ndata: 1\n\n')).toEqual([
      { event: undefined, data: '1' },
    ]);
  });

  it('may start with a byte order mark', () => {
    expect(decode('\uFEFFdata: \uFEFF1\n\n')).toEqual([{ event: undefined, data: '\uFEFF1' }]);
    expect(decode('\n\uFEFFdata: 1\n\n')).toEqual([]);
  });

  it('drops the event that it was cut off in', () => {
    expect(decode('data: 1\n\ndata: 2\n')).toEqual([{ event: undefined, data: '1' }]);
  });

  it('reads on behind bytes that are no characters', () => {
    const decoder = createSseDecoder();
    const chunk = new Uint8Array([...encode('data: '), 0xf0, 0x9f, ...encode('\n\ndata: 2\n\n')]);
    expect(decoder.push(chunk).map(({ data }) => data)).toEqual(['\uFFFD', '2']);
  });

  it('may have an event of just the largest size, and none larger', () => {
    const data = 'x'.repeat(SSE_EVENT_BYTES_MAX - 'data: '.length);
    expect(decode(`data: ${data}\n\n`)).toHaveLength(1);
    expect(() => decode(`data: ${data}x\n\n`)).toThrow('too large');
    expect(() => decode(`data: ${data}`, 'x')).toThrow('too large');
    expect(() => decode(`data: ${data.slice(0, -5)}\n`, 'event: a')).toThrow('too large');
  });

  it('may be kept alive by comments for ever', () => {
    const decoder = createSseDecoder();
    const comments = encode(': keepalive\n'.repeat(100_000));
    for (let i = 0; i < 5; i++) expect(decoder.push(comments)).toEqual([]);
  });
});
