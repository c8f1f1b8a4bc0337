import { describe, expect, it } from 'vitest';
import { SAMPLE_RECORD } from '../../../bench/support/sample-record.ts';
import type { RequestRecord } from '../../../src/gateway/request-record.ts';
import type { RefusalBatch } from '../../../src/lib/refusal-batch.ts';
import { createRefusalSender, createRefusalTally } from '../../../src/worker/refusal-tally.ts';

const MINUTE_MS = 60_000;
const START_MS = 29_000_000 * MINUTE_MS;

const REFUSED: RequestRecord = {
  ...SAMPLE_RECORD,
  ...{ outcome: 'refused', refusal: 'invalid_request', status: 400, isStream: false },
  ...{ keyId: 'key1', isKeyProven: true, model: 'm-1', route: 'chat' },
  ...{ startedMs: 100, endMs: 112.4 },
};

function createStage() {
  const now = { ms: START_MS };
  const tally = createRefusalTally({ nowMs: () => now.ms });
  const note = (record: Partial<RequestRecord> = {}, times = 1) => {
    for (let n = 0; n < times; n++) tally.note({ ...REFUSED, ...record });
  };
  return { now, tally, note };
}

const countsOf = (batch: RefusalBatch | undefined) =>
  batch?.counts.map(({ keyId, model, refusal, count }) => [keyId, model, refusal, count]);

describe('the tally of refusals', () => {
  it('counts by minute, key, model and refusal', () => {
    const { now, tally, note } = createStage();
    note({}, 3);
    note({ keyId: 'key2' });
    note({ refusal: 'balance_too_low', status: 402 });
    note({ model: undefined });
    now.ms += MINUTE_MS;
    note();
    const batch = tally.take();
    expect(countsOf(batch)).toEqual([
      ['key1', 'm-1', 'invalid_request', 3],
      ['key2', 'm-1', 'invalid_request', 1],
      ['key1', 'm-1', 'balance_too_low', 1],
      ['key1', '', 'invalid_request', 1],
      ['key1', 'm-1', 'invalid_request', 1],
    ]);
    expect(batch?.counts.map(({ minute }) => minute - 29_000_000)).toEqual([0, 0, 0, 0, 1]);
  });

  it('begins anew with each batch, and has none if nothing was refused', () => {
    const { tally, note } = createStage();
    expect(tally.take()).toBeUndefined();
    note();
    expect(tally.take()?.counts).toHaveLength(1);
    expect(tally.take()).toBeUndefined();
  });

  it('keeps some of the requests as they were', () => {
    const { tally, note } = createStage();
    note({ requestId: 'req_a' });
    expect(tally.take()?.samples).toEqual([
      {
        requestId: 'req_a',
        refusedMs: START_MS,
        keyId: 'key1',
        model: 'm-1',
        status: 400,
        refusal: 'invalid_request',
        format: 'chat',
        isStream: false,
        durationMs: 12,
      },
    ]);
  });

  it('names no key that may not exist', () => {
    const { tally, note } = createStage();
    note({ keyId: undefined, isKeyProven: false, refusal: 'unauthenticated' });
    note({ isKeyProven: false, refusal: 'unauthenticated' });
    note({ isKeyProven: false });
    note({ isKeyProven: false, refusal: 'cap_reached' });
    const batch = tally.take();
    expect(countsOf(batch)).toEqual([
      ['', 'm-1', 'unauthenticated', 2],
      ['', 'm-1', 'invalid_request', 1],
      ['key1', 'm-1', 'cap_reached', 1],
    ]);
    expect(batch?.samples.map(({ keyId }) => keyId)).toEqual(['', '', '', 'key1']);
  });

  it('keeps 20 requests of a batch, of which 5 have no key', () => {
    const { tally, note } = createStage();
    note({ isKeyProven: false }, 1_000);
    note({}, 1_000);
    const samples = tally.take()?.samples ?? [];
    expect(samples.filter(({ keyId }) => keyId === '')).toHaveLength(5);
    expect(samples).toHaveLength(20);
    note({ isKeyProven: false });
    expect(tally.take()?.samples).toHaveLength(1);
  });

  it('counts without the key what is above 10,000 series', () => {
    const { tally, note } = createStage();
    for (let n = 0; n < 10_005; n++) note({ keyId: `key${n}` });
    note({ keyId: 'key7' });
    const counts = tally.take()?.counts ?? [];
    expect(counts).toHaveLength(10_001);
    expect(counts.find(({ keyId }) => keyId === 'key7')?.count).toBe(2);
    expect(counts.find(({ keyId }) => keyId === '')?.count).toBe(5);
  });
});

describe('sending refusals', () => {
  function createSender() {
    const { tally, note } = createStage();
    const batches: RefusalBatch[] = [];
    const ends: (() => void)[] = [];
    const send = createRefusalSender(tally, (batch, onSent) => {
      batches.push(batch);
      ends.push(onSent);
    });
    return { note, batches, ends, send };
  }

  it('has one batch under way at a time, and loses nothing meanwhile', () => {
    const { note, batches, ends, send } = createSender();
    send(false);
    expect(batches).toEqual([]);
    note();
    send(false);
    note({}, 2);
    send(false);
    note({}, 3);
    expect(batches.map(countsOf)).toEqual([[['key1', 'm-1', 'invalid_request', 1]]]);
    ends[0]?.();
    send(false);
    expect(countsOf(batches[1])).toEqual([['key1', 'm-1', 'invalid_request', 5]]);
  });

  it('does not wait at the end', () => {
    const { note, batches, send } = createSender();
    note();
    send(false);
    note();
    send(true);
    expect(batches).toHaveLength(2);
  });
});
