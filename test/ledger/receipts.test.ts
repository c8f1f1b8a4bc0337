import { pack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { createLedgerDesk } from '../../src/ledger/create-ledger-desk.ts';
import { readStreamPage } from '../../src/ledger/read-stream.ts';
import { STREAM_START } from '../../src/ledger/stream-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { settle } from '../../src/quota/scripts/settle.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import { DETAILS } from '../support/request-details.ts';
import { makeTempFolder } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { begin, createAccount, pay, serve } from './ledger-scene.ts';
import { useLedgerServer } from './use-ledger-server.ts';

const BUCKETS = [3, 200];
const ledger = useLedgerServer(BUCKETS);

const deskOf = (...dirs: string[]) => createLedgerDesk({ connection: ledger.connection, dirs });

/** Redis forgets a request after three hours. */
async function forgetMarks(requestId: string): Promise<void> {
  for (const bucket of BUCKETS) {
    await ledger.connection.send('del', [keysOfBucket(bucket).done(requestId)]);
  }
}

describe('a receipt', () => {
  it('is the same from Redis, and from a segment when Redis has nothing of it any more', async () => {
    const dir = makeTempFolder();
    const account = await createAccount(ledger.connection, 200);
    const requestId = await serve(ledger.connection, account);
    const fromRedis = await deskOf(dir).findReceipt(requestId);
    expect(fromRedis).toMatchObject({
      kind: 'charge',
      masked_key: DETAILS.maskedKey,
      charged: 0.0007,
      asked: { body_bytes: DETAILS.bodyBytes },
      times: { total_ms: DETAILS.totalMs, started_at: new Date(DETAILS.startedMs).toISOString() },
    });
    // A trimmed stream keeps the entry at its cursor, so another entry must take that place.
    await serve(ledger.connection, account);
    await ledger.exportAll(dir);
    await forgetMarks(requestId);
    expect(await deskOf(dir).findReceipt(requestId)).toEqual(fromRedis);
    expect(await deskOf(makeTempFolder()).findReceipt(requestId)).toBeUndefined();
  });

  it('is found without a mark while its entry is in Redis', async () => {
    const account = await createAccount(ledger.connection, 3);
    const requestId = await serve(ledger.connection, account);
    await forgetMarks(requestId);
    expect(await deskOf().findReceipt(requestId)).toMatchObject({ charged: 0.0007 });
  });

  it('is found among several segments and several folders', async () => {
    const [dir, other] = [makeTempFolder(), makeTempFolder()];
    const account = await createAccount(ledger.connection, 3);
    const requestIds: string[] = [];
    for (let i = 0; i < 5; i++) {
      requestIds.push(await serve(ledger.connection, account, 100 + i));
      await ledger.exportAll(dir, { keepMs: 86_400_000 });
    }
    await ledger.exportAll(dir);
    for (const [i, requestId] of requestIds.entries()) {
      await forgetMarks(requestId);
      expect(await deskOf(other, dir).findReceipt(requestId)).toMatchObject({
        charged: (100 + i) / 1e6,
        ledger: [{ kind: 'charge' }],
      });
    }
  });

  it('has both entries of a request that was settled after its lease had run out', async () => {
    const account = await createAccount(ledger.connection, 3);
    const { requestId, end } = await begin(ledger.connection, account, { leaseMs: 1 });
    await waitUntil(
      async () => (await sweep(ledger.connection, 3, 10)).swept === 1,
      'the lease has run out',
    );
    expect(await deskOf().findReceipt(requestId)).toMatchObject({ kind: 'expired', asked: null });
    await end(700);
    expect(await deskOf().findReceipt(requestId)).toMatchObject({
      kind: 'late',
      held: 0.001,
      charged: 0.0007,
      usage: { estimated: true },
      asked: { format: 'native' },
      ledger: [
        { kind: 'expired', charged: 0 },
        { kind: 'late', charged: 0.0007 },
      ],
    });
  });

  it('is that of the entry that stayed, where a failover took one back that was exported', async () => {
    const dir = makeTempFolder();
    const account = await createAccount(ledger.connection, 3);
    const requestId = await serve(ledger.connection, account);
    await serve(ledger.connection, account);
    await ledger.exportAll(dir, { keepMs: 86_400_000 });
    // A new master that never had the entry behaves like this: the settlement is repeated under
    // another id.
    const { ledger: stream } = keysOfBucket(3);
    const page = await readStreamPage(ledger.connection, 3, { after: STREAM_START, until: '+' });
    const entry = page.find(({ fields }) => fields.some((field) => field.includes(requestId)));
    await ledger.connection.send('xdel', [stream, entry?.id ?? '']);
    await ledger.connection.send('xadd', [stream, '*', ...(entry?.fields ?? [])]);
    expect(await deskOf(dir).findReceipt(requestId)).toMatchObject({
      charged: 0.0007,
      ledger: [{ kind: 'charge' }],
    });
  });

  it('is made of what an earlier version wrote, without what that did not know', async () => {
    const account = await createAccount(ledger.connection, 3);
    const { requestId, month } = await begin(ledger.connection, account);
    await settle(ledger.connection, {
      bucket: 3,
      accountId: account.id,
      keyId: account.keyId,
      requestId,
      month,
      model: 'llm-a',
      actualMicros: 700,
      firstTriedMs: Date.now(),
      usage: pack([1, 11, 22, 33, 44, 200, 66, false]),
    });
    expect(await deskOf().findReceipt(requestId)).toMatchObject({
      charged: 0.0007,
      usage: { input: 11, output: 200, thinking: 66, estimated: false },
      asked: null,
      times: null,
    });
  });

  it('is not that of a payment with the id of a request', async () => {
    const account = await createAccount(ledger.connection, 3);
    const requestId = await serve(ledger.connection, account);
    const paymentId = `${requestId.slice(0, -1)}${requestId.endsWith('x') ? 'y' : 'x'}`;
    await pay(ledger.connection, account, { paymentId, micros: 5 });
    expect(await deskOf().findReceipt(paymentId)).toBeUndefined();
  });
});
