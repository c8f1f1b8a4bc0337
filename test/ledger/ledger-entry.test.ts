import { pack } from 'msgpackr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeLedgerCsv, LEDGER_CSV_HEAD } from '../../src/ledger/encode-ledger-csv.ts';
import {
  bucketOfLedgerLine,
  decodeLedgerEntry,
  detailsOfEntry,
  encodeDamagedLine,
  encodeLedgerLine,
  type LedgerEntry,
  parseLedgerLine,
} from '../../src/ledger/ledger-entry.ts';
import { readStreamPage } from '../../src/ledger/read-stream.ts';
import { STREAM_START } from '../../src/ledger/stream-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { settle } from '../../src/quota/scripts/settle.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import { DETAILS } from '../support/request-details.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { FORMULAS } from './formulas.ts';
import { begin, createAccount, pay, serve, USAGE } from './ledger-scene.ts';

let connection: TestConnection;
beforeAll(async () => {
  const server = await startRedisServer();
  connection = openConnection(standalone(tcp(server.port)));
  await waitForRedis(connection);
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

async function readEntries(bucket: number): Promise<LedgerEntry[]> {
  const page = await readStreamPage(connection, bucket, { after: STREAM_START, until: '+' });
  return page.map(({ id, fields }) => decodeLedgerEntry(bucket, id, fields));
}

const sample: LedgerEntry = {
  bucket: 7,
  id: '1760000000000-3',
  time: '2025-10-09T08:53:20.000Z',
  kind: 'topup',
  request: 'p1',
  account: 'a1',
  key: null,
  model: null,
  month: null,
  held_micros: 0,
  charged_micros: -5,
  short_micros: 0,
  balance_micros: 5,
  usage: null,
  details: null,
  note: 'one "two", three\nfour\u2028five',
};

describe('an entry of the ledger', () => {
  it('has everything about a request', async () => {
    const account = await createAccount(connection, 3, 1_000_000);
    const request = await serve(connection, account, 700);
    const entry = (await readEntries(3)).at(-1);
    expect(entry).toEqual({
      bucket: 3,
      id: expect.stringMatching(/^\d{13}-\d+$/),
      time: new Date(Number(entry?.id.split('-')[0])).toISOString(),
      kind: 'charge',
      request,
      account: account.id,
      key: account.keyId,
      model: 'llm-a',
      month: expect.stringMatching(/^20\d{4}$/),
      held_micros: 1_000,
      charged_micros: 700,
      short_micros: 0,
      balance_micros: 999_300,
      usage: {
        input: USAGE.input,
        cache_read: USAGE.cacheRead,
        cache_write_5m: USAGE.cacheWrite5m,
        cache_write_1h: USAGE.cacheWrite1h,
        output: USAGE.output,
        thinking: USAGE.thinking,
        searches: 0,
        estimated: true,
      },
      note: null,
      details: expect.any(String),
    });
    expect(entry && detailsOfEntry(entry)).toEqual(DETAILS);
  });

  it('keeps what a later version knows about a request, though this one does not', async () => {
    const account = await createAccount(connection, 9);
    const { requestId, month } = await begin(connection, account);
    const usage = pack([3, { all: 'new' }]);
    const { bucket, id: accountId, keyId } = account;
    const request = { bucket, accountId, keyId, requestId, month, model: 'llm-a' };
    await settle(connection, { ...request, actualMicros: 7, firstTriedMs: Date.now(), usage });
    const entry = (await readEntries(9)).at(-1);
    expect(entry).toMatchObject({ usage: null, details: usage.toString('base64') });
    expect(entry && detailsOfEntry(entry)).toBeUndefined();
  });

  it('of an earlier version has no details', () => {
    const { details: _, ...earlier } = sample;
    expect(parseLedgerLine(JSON.stringify(earlier))).toEqual(sample);
  });

  it('has everything about a payment', async () => {
    const account = await createAccount(connection, 4, 0);
    await pay(connection, account, { paymentId: 'p1', micros: 5_000_000, note: 'für Ünal' });
    await pay(connection, account, { paymentId: 'p2', micros: -1_000, kind: 'refund' });
    const [topup, refund] = await readEntries(4);
    expect(topup).toMatchObject({ kind: 'topup', request: 'p1', charged_micros: -5_000_000 });
    expect(topup).toMatchObject({ key: null, model: null, month: null, usage: null });
    expect(topup).toMatchObject({ note: 'für Ünal', balance_micros: 5_000_000 });
    expect(refund).toMatchObject({ kind: 'refund', charged_micros: 1_000, note: null });
  });

  it('can be of every kind that the scripts write', async () => {
    const account = await createAccount(connection, 5);
    await (await begin(connection, account)).end(0);
    const abandoned = await begin(connection, account, { leaseMs: 1 });
    await waitUntil(async () => (await sweep(connection, 5, 10)).swept === 1, 'the hold is swept');
    await abandoned.end(20);
    const lost = await begin(connection, account);
    await connection.send('hdel', [keysOfBucket(5).holds, lost.requestId]);
    await lost.end(5);
    await pay(connection, account, { paymentId: 'a', micros: 1, kind: 'adjustment' });
    const kinds = (await readEntries(5)).map(({ kind }) => kind);
    expect(kinds).toEqual(['topup', 'release', 'expired', 'late', 'orphan', 'adjustment']);
  });

  it('survives being a line', () => {
    const line = encodeLedgerLine(sample);
    expect(line).not.toContain('\n');
    expect(parseLedgerLine(line)).toEqual(sample);
    expect(bucketOfLedgerLine(line)).toBe(7);
  });

  it.each([
    ['a cut line', '{"bucket":7,"id":"176'],
    ['no entry', '{}'],
    ['a fraction of a micro', encodeLedgerLine({ ...sample, charged_micros: 0.5 })],
    ['a place that is none', encodeLedgerLine({ ...sample, id: 'x' })],
    ['what could not be decoded', encodeDamagedLine(7, sample.id, [Buffer.from('kind')])],
  ])('is refused as %s', (_, line) => {
    expect(() => parseLedgerLine(line)).toThrow();
  });

  it.each([
    ['without an amount', ['entry', 'topup|a||||0|-5||5|p1', 'usage', '']],
    ['of an unknown kind', ['entry', 'gift|a||||0|-5|0|5|p1', 'usage', '']],
    ['with other fields', ['kind', 'topup|a||||0|-5|0|5|p1', 'usage', '']],
  ])('is not decoded %s', (_, fields) => {
    const buffers = fields.map((field) => Buffer.from(field));
    expect(() => decodeLedgerEntry(1, sample.id, buffers)).toThrow();
  });

  it('is a row of a table, with quotes where they are needed', () => {
    const row = encodeLedgerCsv(sample);
    expect(row).toBe(
      '7,1760000000000-3,2025-10-09T08:53:20.000Z,topup,p1,a1,,,,0,-5,0,5,' +
        '"one ""two"", three\nfour\u2028five",,,,,,,,',
    );
    expect(LEDGER_CSV_HEAD.split(',')).toHaveLength(22);
  });

  it.each(FORMULAS)('is a row in which a spreadsheet takes %j for text', (formula) => {
    const written = encodeLedgerCsv({ ...sample, request: formula, note: formula });
    const cell = /[",\r\n]/.test(formula) ? `"'${formula.replaceAll('"', '""')}"` : `'${formula}`;
    expect(written).toBe(
      encodeLedgerCsv({ ...sample, request: 'X', note: 'X' }).replaceAll('X', () => cell),
    );
    // Paid amounts are negative, and stay numbers.
    expect(written).toContain(',0,-5,0,5,');
  });

  it.each(['a=1', '5 - 3', "'quoted'", 'me@example.com'])('is a row with %j as it is', (note) => {
    expect(encodeLedgerCsv({ ...sample, note })).toContain(`,${note},`);
  });
});
