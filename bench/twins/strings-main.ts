/**
 * `strings-main.js plain|quick`: prints how long packing a settlement takes in a process with the
 * Redis client.
 */
import 'ioredis';
import { quickenStrings } from '../../src/lib/bytes/quicken-strings.ts';
import { encodeLedgerUsage, encodeSettlement } from '../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../../test/support/request-details.ts';
import { cpuMicros } from './twin.ts';

const WARM_UPS = 5;
const USAGE = {
  input: 12,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 50,
  thinking: 0,
  searches: 0,
};

if (process.argv[2] === 'quick') quickenStrings();

let serial = 0;

/** Makes strings of the kinds that requests have: decoded, joined, cut and parsed. */
function packOne(): Buffer {
  serial += 1;
  const cut = `xx${serial}0123456789abcdef`.slice(2, 13);
  const model = JSON.parse('"llm-haiku-4.5"') as string;
  return encodeSettlement({
    bucket: 5,
    ...{ accountId: `acct_${cut}`, keyId: cut, month: '202611', model, extras: '' },
    requestId: Buffer.from(`req_0TtWXsY1bHrZ6${cut}`).toString('latin1'),
    ...{ actualMicros: serial, lastKnownMs: serial },
    usage: encodeLedgerUsage(USAGE, false, DETAILS),
  });
}

const measure = cpuMicros(packOne);
for (let i = 0; i < WARM_UPS; i++) measure();
console.log(measure());
