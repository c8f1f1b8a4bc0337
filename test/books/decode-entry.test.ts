import { expect, it } from 'vitest';
import { decodeEntry } from '../../src/books/writing/decode-entry.ts';
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
