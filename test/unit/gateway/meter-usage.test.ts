import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceUsage } from '../../../src/catalogue/price-usage.ts';
import { type AnswerEnd, createMeter } from '../../../src/gateway/meter-usage.ts';
import type { BlockDelta, InferenceEvent, Usage } from '../../../src/protocol/inference.ts';
import { NO_USAGE } from '../../../src/protocol/native/decode-usage.ts';

const PRICE = { input: 5, output: 25, cacheRead: 0.5, cacheWrite5m: 6.25, cacheWrite1h: 10 };
const BYTES_PER_TOKEN = 3;
/** Of the input, before anybody counted it. */
const ESTIMATE = 64;
const INPUT: Usage = { ...NO_USAGE, input: 100, cacheRead: 40, output: 1 };

const start = (usage = INPUT): InferenceEvent => ({
  type: 'start',
  id: 'msg_1',
  model: 'm',
  usage,
});
const delta = (content: BlockDelta): InferenceEvent => ({
  type: 'delta',
  index: 0,
  delta: content,
});
const text = (words: string) => delta({ type: 'text', text: words });
const finish = (usage: Usage | undefined): InferenceEvent => ({
  type: 'finish',
  stopReason: 'end_turn',
  stopSequence: undefined,
  usage,
});

function meterOf(events: readonly InferenceEvent[]) {
  const meter = createMeter({
    price: PRICE,
    inputTokens: ESTIMATE,
    bytesPerToken: BYTES_PER_TOKEN,
  });
  for (const event of events) meter.note(event);
  return meter;
}

const bill = (how: AnswerEnd, ...events: readonly InferenceEvent[]) => meterOf(events).close(how);
const billOf = (usage: Usage, isEstimated: boolean) => ({
  usage,
  chargeMicros: priceUsage(usage, PRICE),
  isEstimated,
});
const FREE = { usage: NO_USAGE, chargeMicros: 0, isEstimated: false };

describe('an answer that came to its end', () => {
  it('costs exactly what its upstream counted', () => {
    const counted = { ...INPUT, output: 7, thinking: 3 };
    expect(bill('complete', start(), text('Hello'), finish(counted))).toEqual(
      billOf(counted, false),
    );
  });

  it('costs what was counted although that is far from what was delivered', () => {
    const counted = { ...INPUT, output: 1 };
    expect(bill('complete', start(), text('x'.repeat(3_000)), finish(counted))).toEqual(
      billOf(counted, false),
    );
  });

  it('costs nothing when nothing was counted and nothing delivered', () => {
    const silent = { type: 'block_start', index: 0, block: { type: 'text' } } as const;
    const empty = bill('complete', start(NO_USAGE), silent, text(''), finish(NO_USAGE));
    expect(empty).toEqual(FREE);
  });

  it('costs its input alone when it says nothing', () => {
    const counted = { ...INPUT, output: 0 };
    expect(bill('complete', start(), finish(counted))).toEqual(billOf(counted, false));
  });

  it.each([
    ['text', { type: 'text', text: 'äöü€' }, 3],
    ['thoughts', { type: 'thinking', thinking: 'hm, 1' }, 2],
    ['the input of a tool', { type: 'input_json', json: '{"a":12}' }, 3],
  ] satisfies [string, BlockDelta, number][])(
    'has its output estimated when %s came and no count did',
    (_what, content, output) => {
      const expected = { ...INPUT, output };
      for (const counted of [NO_USAGE, { ...INPUT, output: 0 }]) {
        expect(bill('complete', start(), delta(content), finish(counted))).toEqual(
          billOf(expected, true),
        );
      }
      expect(bill('complete', start(), delta(content))).toEqual(billOf(expected, true));
    },
  );

  it('keeps the input that its upstream counted only at the end', () => {
    const counted = { ...NO_USAGE, input: 90 };
    expect(bill('complete', start(NO_USAGE), text('Hello!'), finish(counted))).toEqual(
      billOf({ ...counted, output: 2 }, true),
    );
  });

  it('has its input estimated when nobody ever told of one', () => {
    const expected = { ...NO_USAGE, input: ESTIMATE, output: 2 };
    expect(bill('complete', text('Hello!'))).toEqual(billOf(expected, true));
    expect(bill('complete', start(NO_USAGE), text('Hello!'), finish(undefined))).toEqual(
      billOf(expected, true),
    );
    const counted = finish({ ...NO_USAGE, output: 9 });
    expect(bill('complete', start(NO_USAGE), text('Hello!'), counted)).toEqual(
      billOf({ ...expected, output: 9 }, true),
    );
  });

  it('tells its client the usage that is billed, whoever counted it', () => {
    const counted = finish({ ...INPUT, output: 7 });
    expect(meterOf([start(), text('Hello')]).note(counted)).toBe(counted);
    const meter = meterOf([start(NO_USAGE), text('Hello!')]);
    expect(meter.note(finish(undefined))).toMatchObject({ usage: meter.close('complete').usage });
  });
});

describe('an answer whose upstream failed', () => {
  it('costs nothing before the first content', () => {
    const block = { type: 'block_start', index: 0, block: { type: 'text' } } as const;
    const signature = delta({ type: 'signature', signature: 'c2lnbmVk' });
    expect(bill('failed')).toEqual(FREE);
    expect(bill('failed', start())).toEqual(FREE);
    expect(bill('failed', start(), block, text(''), signature)).toEqual(FREE);
  });

  it('costs what was delivered after it', () => {
    expect(bill('failed', start(), text('Hello'), text(' there'))).toEqual(
      billOf({ ...INPUT, output: 4 }, true),
    );
  });

  it('costs no less than what its upstream told at the start', () => {
    const told = { ...INPUT, output: 50 };
    expect(bill('failed', start(told), text('Hi'))).toEqual(billOf(told, true));
  });
});

describe('an answer whose client left', () => {
  it('costs nothing before it began', () => {
    expect(bill('left')).toEqual(FREE);
  });

  it('costs its input from the start on, and the output so far', () => {
    expect(bill('left', start())).toEqual(billOf(INPUT, true));
    expect(bill('left', start(), text('Hello'), text(' there'))).toEqual(
      billOf({ ...INPUT, output: 4 }, true),
    );
  });

  it('costs exactly what was counted when the count came before it left', () => {
    const counted = { ...INPUT, output: 9 };
    expect(bill('left', start(), text('Hello'), finish(counted))).toEqual(billOf(counted, false));
  });
});

describe('any answer', () => {
  const deltas = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }).map((words) => text(words)),
    fc
      .string({ maxLength: 40 })
      .map((thinking): InferenceEvent => delta({ type: 'thinking', thinking })),
    fc.string({ maxLength: 40 }).map((json): InferenceEvent => delta({ type: 'input_json', json })),
  );
  const answers = fc.array(deltas, { maxLength: 20 });

  it('never costs more cut off than whole, when its upstream counts what was delivered', () => {
    fc.assert(
      fc.property(answers, fc.nat({ max: 20 }), fc.nat({ max: 50 }), (content, cut, more) => {
        const whole = meterOf([start(), ...content]).close('left').usage;
        const counted = { ...whole, output: whole.output + more };
        const complete = bill('complete', start(), ...content, finish(counted));
        const left = bill('left', start(), ...content.slice(0, cut));
        const failed = bill('failed', start(), ...content.slice(0, cut));
        expect(left.chargeMicros).toBeLessThanOrEqual(complete.chargeMicros);
        expect(failed.chargeMicros).toBeLessThanOrEqual(left.chargeMicros);
      }),
    );
  });

  it('is seen to cost more and more, and at each event what it would cost if it were left', () => {
    fc.assert(
      fc.property(answers, (content) => {
        const meter = meterOf([]);
        let seenBefore = 0;
        for (const event of [start(), ...content]) {
          meter.note(event);
          const seen = meter.seenMicros();
          expect(seen).toBeGreaterThanOrEqual(seenBefore);
          expect(seen).toBe(meter.close('left').chargeMicros);
          seenBefore = seen;
        }
      }),
    );
  });

  it('is seen to cost nothing before its start, and what was counted after its end', () => {
    const meter = meterOf([]);
    expect(meter.seenMicros()).toBe(0);
    const counted = { ...INPUT, output: 2 };
    for (const event of [start(), text('x'.repeat(300)), finish(counted)]) meter.note(event);
    expect(meter.seenMicros()).toBe(priceUsage(counted, PRICE));
  });

  it('costs whole micro-credits that are never negative, however it ends', () => {
    const events = fc.array(fc.oneof(deltas, fc.constant(start()), fc.constant(finish(NO_USAGE))));
    const ends = fc.constantFrom<AnswerEnd>('complete', 'failed', 'left');
    fc.assert(
      fc.property(events, ends, (noted, how) => {
        const { usage, chargeMicros } = bill(how, ...noted);
        expect(Number.isSafeInteger(chargeMicros) && chargeMicros >= 0).toBe(true);
        expect(chargeMicros).toBe(priceUsage(usage, PRICE));
        expect(usage.thinking).toBeLessThanOrEqual(usage.output);
      }),
    );
  });
});
