import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NO_USAGE } from '../../../../src/protocol/answers/no-usage.ts';
import { relayEmbeddings } from '../../../../src/protocol/embeddings/relay-answer.ts';
import { Refusal } from '../../../../src/protocol/refusals.ts';

const ENCODINGS = ['float', 'base64'] as const;

function relay(data: unknown, encoding: (typeof ENCODINGS)[number] = 'float', count = 1) {
  const inputs = Array.from({ length: count }, () => 'text');
  const { closing } = relayEmbeddings(JSON.stringify({ data }), 'embed', { inputs, encoding });
  const body = closing?.({ ...NO_USAGE, input: 1 }) ?? '';
  const answer = JSON.parse(Buffer.from(body).toString()) as {
    readonly data: readonly { readonly embedding: unknown }[];
  };
  return answer.data.map(({ embedding }) => embedding);
}

it.each(ENCODINGS)('refuses whatever is no embedding, for a client that wants %s', (encoding) => {
  const wrong = [undefined, null, '', 'no base64!', 'AAAA', 'A', [], ['1'], [1, null], { 0: 1 }, 7];
  for (const embedding of wrong) {
    expect(() => relay([{ index: 0, embedding }], encoding)).toThrow(Refusal);
  }
});

it('refuses answers that do not have one embedding for each input', () => {
  const one = { index: 0, embedding: [1] };
  for (const data of [undefined, null, {}, [], [one], [one, one], [one, { ...one, index: 2 }]]) {
    expect(() => relay(data, 'float', 2)).toThrow(Refusal);
  }
  expect(() => relay([one, { ...one, index: -1 }, one], 'float', 2)).toThrow(Refusal);
});

it('puts embeddings in the order of their inputs, with or without an index', () => {
  const told = (index: number | undefined, number: number) => ({ index, embedding: [number] });
  expect(relay([told(1, 8), told(0, 9)], 'float', 2)).toEqual([[9], [8]]);
  expect(relay([told(undefined, 8), told(undefined, 9)], 'float', 2)).toEqual([[8], [9]]);
});

it('takes null for an index as none', () => {
  const embeddings = [[1], [2]].map((embedding) => ({ index: null, embedding }));
  expect(relay(embeddings, 'float', 2)).toEqual([[1], [2]]);
});

it('keeps every float of 32 bits in both encodings', () => {
  const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 });
  fc.assert(
    fc.property(floats, (embedding) => {
      const [written] = relay([{ embedding }], 'base64');
      const [read] = relay([{ embedding: written }], 'float');
      const [again] = relay([{ embedding: written }], 'base64');
      expect([read, again]).toEqual([embedding.map((number) => number + 0), written]);
    }),
  );
});
