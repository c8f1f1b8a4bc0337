import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceUsage } from '../../../src/catalogue/price-usage.ts';
import { type AnswerEnd, createMeter } from '../../../src/gateway/meter.ts';
import { createTokenRatios } from '../../../src/gateway/token-ratios.ts';
import { NO_USAGE } from '../../../src/protocol/answers/no-usage.ts';
import type { BlockDelta, InferenceEvent, Usage } from '../../../src/protocol/inference.ts';

const PRICE = { input: 5, output: 25, cacheRead: 0.5, cacheWrite5m: 6.25, cacheWrite1h: 10 };
const BYTES_PER_TOKEN = 3;
/** The estimate of the input, before anybody has counted it. */
const ESTIMATE = 64;
const INPUT: Usage = { ...NO_USAGE, input: 100, cacheRead: 40, output: 1 };

const start = (usage = INPUT): InferenceEvent => {
  return { type: 'start', id: 'msg_1', model: 'm', usage };
};
const delta = (content: BlockDelta): InferenceEvent => {
  return { type: 'delta', index: 0, delta: content };
};
const text = (words: string) => delta({ type: 'text', text: words });
const finish = (usage: Usage | undefined): InferenceEvent => {
  return { type: 'finish', stopReason: 'end_turn', stopSequence: undefined, usage };
};

const OUTPUT_MAX = 10_000;
const WINDOW = 200_000;

const ESTIMATE_OF_TEXT = { likely: ESTIMATE, least: 1, most: 192, unsure: 0, files: undefined };

interface Asked {
  readonly cacheWrite?: '5m' | '1h';
  readonly reportedTokensMax?: number;
  readonly outputTokensMax?: number;
  readonly searchesMax?: number;
}

function meterOf(events: readonly InferenceEvent[], asked: Asked = {}) {
  const meter = createMeter({
    price: PRICE,
    estimate: { ...ESTIMATE_OF_TEXT, cacheWrite: asked.cacheWrite },
    ratio: createTokenRatios(BYTES_PER_TOKEN)('m'),
    contextTokensMax: WINDOW,
    input: { reportedTokensMax: asked.reportedTokensMax ?? WINDOW },
    outputTokensMax: asked.outputTokensMax ?? OUTPUT_MAX,
    searchesMax: asked.searchesMax ?? 0,
  });
  for (const event of events) meter.note(event);
  return meter;
}

const bill = (how: AnswerEnd, ...events: readonly InferenceEvent[]) =>
  meterOf(events).close(how, false);
const billOf = (usage: Usage, isEstimated: boolean, isImplausible = false) => ({
  usage,
  chargeMicros: priceUsage(usage, PRICE),
  ...{ isEstimated, isImplausible },
});
const FREE = { usage: NO_USAGE, chargeMicros: 0, isEstimated: false, isImplausible: false };

describe('an answer that came to its end', () => {
  it('costs exactly what its upstream counted', () => {
    const counted = { ...INPUT, output: 7, thinking: 3, searches: 0 };
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

  it('has its input estimated when nobody ever reported one', () => {
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

  it('sends its client the usage that is billed, whoever counted it', () => {
    const counted = finish({ ...INPUT, output: 7 });
    expect(meterOf([start(), text('Hello')]).note(counted)).toBe(counted);
    const meter = meterOf([start(NO_USAGE), text('Hello!')]);
    expect(meter.note(finish(undefined))).toMatchObject({
      usage: meter.close('complete', true).usage,
    });
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

  it('costs its input and the names of tools that it called', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'get_weather' } as const;
    const { usage } = bill('failed', start(), { type: 'block_start', index: 0, block: call });
    expect(usage).toMatchObject({ input: 100, output: 4 });
  });

  it('costs what it searched, even before the first content', () => {
    const searched = { ...INPUT, searches: 2 };
    const close = (...events: InferenceEvent[]) =>
      meterOf(events, { searchesMax: 2 }).close('failed', true);
    expect(close(start(), { type: 'usage', usage: searched })).toEqual(billOf(searched, false));
    expect(close(start(searched))).toEqual(billOf(searched, true));
    expect(close(start(), { type: 'usage', usage: INPUT })).toEqual(FREE);
  });

  it('costs what was delivered after it', () => {
    expect(bill('failed', start(), text('Hello'), text(' there'))).toEqual(
      billOf({ ...INPUT, output: 4 }, true),
    );
  });

  it('costs no less than what its upstream reported at the start', () => {
    const reported = { ...INPUT, output: 50 };
    expect(bill('failed', start(reported), text('Hi'))).toEqual(billOf(reported, true));
  });
});

describe('an answer whose client left', () => {
  it('costs nothing before its upstream was sent the request', () => {
    expect(bill('left')).toEqual(FREE);
  });

  it.each([
    [undefined, { ...NO_USAGE, input: ESTIMATE }],
    ['5m', { ...NO_USAGE, cacheWrite5m: ESTIMATE }],
    ['1h', { ...NO_USAGE, cacheWrite1h: ESTIMATE }],
  ] as const)(
    'costs its input from then on, at the dearest price that it asks for (cache: %s)',
    (cacheWrite, usage) => {
      const meter = meterOf([], cacheWrite && { cacheWrite });
      expect(meter.close('left', true)).toEqual(billOf(usage, true));
      expect(meter.seenMicros(true)).toBe(priceUsage(usage, PRICE));
      expect(meter.close('undelivered', true)).toEqual(FREE);
    },
  );

  it('costs what was reported in its middle, and what was delivered since', () => {
    const counted = { ...INPUT, output: 40, thinking: 30, searches: 0 };
    const reported: InferenceEvent = { type: 'usage', usage: counted };
    expect(bill('left', start(), text('Hello'), reported)).toEqual(billOf(counted, false));
    expect(bill('left', start(), text('Hello'), reported, text('there'))).toEqual(
      billOf({ ...counted, output: 42 }, true),
    );
  });

  it('costs no more output than was asked for, however much text came', () => {
    const meter = meterOf([start(), text('x'.repeat(400))], { outputTokensMax: 100 });
    expect(meter.close('left', true)).toEqual(billOf({ ...INPUT, output: 100 }, true));
    expect(meter.seenMicros(true)).toBe(priceUsage({ ...INPUT, output: 100 }, PRICE));
    meter.limitOutput(50);
    expect(meter.close('left', true).usage.output).toBe(50);
    // What is surely more is charged: tokens have at most 6 bytes on average.
    meter.limitOutput(33);
    expect(meter.close('left', true).usage.output).toBe(66);
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

describe('usage that cannot be', () => {
  it('is charged as far as its request can contain it, be that more than the window', () => {
    const reported = { ...INPUT, input: 600_000, cacheRead: 0, output: 1 };
    const close = (asked: Asked) =>
      meterOf([start(), text('Hi'), finish(reported)], asked).close('complete', true);
    expect(close({ reportedTokensMax: 600_000 })).toEqual(billOf(reported, false));
    expect(close({})).toEqual(billOf({ ...reported, input: WINDOW }, false, true));
  });

  it('is charged as far as it was asked for, and marked, however the answer ends', () => {
    const asked = { ...INPUT, output: OUTPUT_MAX };
    const reported = { ...INPUT, output: 1e9 };
    expect(bill('complete', start(), text('Hello'), finish(reported))).toEqual(
      billOf(asked, false, true),
    );
    expect(bill('left', start(reported))).toEqual(billOf(asked, true, true));
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
        const whole = meterOf([start(), ...content]).close('left', true).usage;
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
          const seen = meter.seenMicros(false);
          expect(seen).toBeGreaterThanOrEqual(seenBefore);
          expect(seen).toBe(meter.close('left', false).chargeMicros);
          seenBefore = seen;
        }
      }),
    );
  });

  it('is seen to cost nothing before its start, and what was counted after its end', () => {
    const meter = meterOf([]);
    expect(meter.seenMicros(false)).toBe(0);
    const counted = { ...INPUT, output: 2 };
    for (const event of [start(), text('x'.repeat(300)), finish(counted)]) meter.note(event);
    expect(meter.seenMicros(false)).toBe(priceUsage(counted, PRICE));
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
