import { expect, it } from 'vitest';
import type { EntryRow } from '../../src/books/engine/tables.ts';
import { addUp } from '../../src/books/writing/add-up.ts';
import { decodeEntry } from '../../src/books/writing/decode-entry.ts';
import { priceUsage } from '../../src/catalogue/price-usage.ts';
import { encodeLedgerUsage } from '../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../support/request-details.ts';

const USAGE = {
  ...{ input: 11, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 7 },
  ...{ thinking: 0, searches: 0 },
};

it('asks what an upstream charges for a model', () => {
  const upstream = DETAILS.tries.at(-1)?.upstream;
  const fields = [
    ...['entry', 'charge|acct_a|key_a|202611|llm-a|900|500|0|99|req_a', 'usage'].map((text) =>
      Buffer.from(text),
    ),
    encodeLedgerUsage(USAGE, false, DETAILS),
  ];
  const asked: unknown[] = [];
  const decoded = decodeEntry(7, '5-0', fields, (...question) => {
    asked.push(question);
    return 300;
  });
  expect(asked).toEqual([[upstream, 'llm-a', USAGE]]);
  expect(decoded).toMatchObject({ is: 'entry', row: { upstream, model: 'llm-a', cost: 300 } });
});

it('reckons the margin of a request with all that it was charged, also if it was settled late', () => {
  const usage = encodeLedgerUsage(USAGE, false, DETAILS);
  const priceMicros = priceUsage(USAGE, DETAILS.price);
  const decode = (seq: number, kind: string, amounts: string, packed: Buffer) => {
    const entry = `${kind}|acct_a|key_a|202611|llm-a|${amounts}|99|req_a`;
    const fields = [Buffer.from('entry'), Buffer.from(entry), Buffer.from('usage'), packed];
    const decoded = decodeEntry(7, `5-${seq}`, fields, () => 40);
    if (decoded.is !== 'entry') throw new Error('it is an entry');
    return decoded.row;
  };
  const inTime = [decode(0, 'charge', `900|${priceMicros}|0`, usage)];
  const none = Buffer.alloc(0);
  for (const seen of [0, 30, priceMicros + 5]) {
    const expired = decode(0, 'expired', `900|${seen}|0`, none);
    const late = decode(1, 'late', `0|${priceMicros - seen - 1}|1`, usage);
    expect(sumMargin([expired, late])).toEqual({ ...sumMargin(inTime), charged: priceMicros - 1 });
  }
});

function sumMargin(rows: readonly EntryRow[]) {
  const [day] = addUp(rows, []).accountDays;
  return { cost: day?.cost, charged: day?.charged_with_cost };
}
