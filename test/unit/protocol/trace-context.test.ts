import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeTraceContext, encodeTraceHeaders } from '../../../src/protocol/trace-context.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const decode = (traceparent: string, tracestate?: string) =>
  decodeTraceContext(traceparent, () => tracestate);

describe('a traceparent', () => {
  it.each(['00', '01', '02', '03'])('is passed on as it came, with the flags %s', (flags) => {
    const traceparent = `00-${TRACE_ID}-${SPAN_ID}-${flags}`;
    const context = decode(traceparent);
    expect(context).toMatchObject({ traceId: TRACE_ID, spanId: SPAN_ID });
    expect(encodeTraceHeaders(context)).toEqual(['traceparent', traceparent]);
  });

  it('of a later version is read as far as it is known, and goes out as version 00', () => {
    for (const more of ['', '-', '-what-may-come']) {
      const context = decode(`cc-${TRACE_ID}-${SPAN_ID}-01${more}`);
      expect(encodeTraceHeaders(context)).toEqual(['traceparent', `00-${TRACE_ID}-${SPAN_ID}-01`]);
    }
  });

  it('loses the flags that nobody here knows', () => {
    const context = decode(`00-${TRACE_ID}-${SPAN_ID}-ff`);
    expect(encodeTraceHeaders(context)[1]).toBe(`00-${TRACE_ID}-${SPAN_ID}-03`);
  });

  it.each([
    '',
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${TRACE_ID}-${SPAN_ID}-1`,
    `00-${TRACE_ID}-${SPAN_ID}-01-more`,
    `00-${TRACE_ID}-${SPAN_ID}-01 `,
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `0-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01,00-${TRACE_ID}-${SPAN_ID}-01`,
  ])('is none when it reads %j', (text) => {
    expect(decode(text, 'a=1')).toBeUndefined();
  });

  it('is either none or goes out well-formed, whatever a client writes', () => {
    const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), maxLength: 33 });
    const nearly = fc.tuple(hex, hex, hex, hex).map((parts) => parts.join('-'));
    const right = fc
      .tuple(
        fc.stringMatching(/^[0-9a-f]{2}$/),
        fc.stringMatching(/^[0-9a-f]{32}$/),
        fc.stringMatching(/^[0-9a-f]{16}$/),
        fc.stringMatching(/^[0-9a-f]{2}$/),
      )
      .map((parts) => parts.join('-'));
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly, right), fc.string(), (text, state) => {
        const [, traceparent = '', , tracestate = 'a=1'] = encodeTraceHeaders(decode(text, state));
        if (traceparent === '') return;
        expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
        expect(text).toContain(traceparent.slice(3, 52));
        expect(tracestate).toMatch(/^[\x20-\x7e]{3,512}$/);
      }),
    );
  });
});

describe('a tracestate', () => {
  const stateOf = (tracestate: string) =>
    decode(`00-${TRACE_ID}-${SPAN_ID}-01`, tracestate)?.tracestate;

  it.each([
    ['congo=t61rcWkgMzE,rojo=00f067aa0ba902b7', 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7'],
    ['a=1 , ,\tb=2,', 'a=1,b=2'],
    ['1a-_*/@b=x y', '1a-_*/@b=x y'],
    [`a=${'x'.repeat(256)}`, `a=${'x'.repeat(256)}`],
  ])('that is right is passed on: %j', (text, passedOn) => {
    expect(stateOf(text)).toBe(passedOn);
  });

  it.each([
    '',
    ' , ',
    'a',
    '=1',
    'A=1',
    'a=',
    'a=1,a=2',
    'a=1=',
    'a=\u00e9',
    'a=1\r\nx: 2',
    `a=${'x'.repeat(257)}`,
    `a=${'x'.repeat(250)},b=${'x'.repeat(250)},c=${'x'.repeat(10)}`,
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(),
  ])('that breaks its rules is left out, and the traceparent stays: %j', (text) => {
    expect(stateOf(text)).toBeUndefined();
  });
});
