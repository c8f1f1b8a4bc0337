import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOpenHolds, type OpenHold } from '../../../src/quota/open-holds.ts';
import type { Hold, RenewReply } from '../../../src/quota/scripts/renew.ts';
import { createMemoryLog } from '../../support/memory-log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function start(answer: (hold: Hold) => RenewReply | Error = () => 'active') {
  const renewals: {
    requestId: string;
    seenMicros: number;
    leaseMs: number;
    atMs: number;
    lastKnownMs: number;
  }[] = [];
  const startedMs = Date.now();
  const holds = createOpenHolds({
    async renew(hold, state) {
      const { requestId } = hold;
      const lastKnownMs = hold.lastKnownMs - startedMs;
      renewals.push({ requestId, ...state, atMs: Date.now() - startedMs, lastKnownMs });
      const reply = answer(hold);
      if (reply instanceof Error) throw reply;
      return reply;
    },
    clock: { nowMs: () => Date.now() },
    log: createMemoryLog(),
  });
  const stopped: string[] = [];
  const open = (requestId: string, more: Partial<OpenHold> = {}) =>
    holds.open({
      bucket: 1,
      accountId: 'acct_1',
      keyId: 'key1',
      requestId,
      month: '202611',
      model: 'm',
      extras: '',
      heldMicros: 10,
      lastKnownMs: startedMs,
      seenMicros: () => 3,
      stop: (why) => stopped.push(`${requestId} ${why}`),
      ...more,
    });
  return { holds, renewals, open, stopped };
}

describe('the open holds of a worker', () => {
  it('are renewed first after 5 seconds and then every 10, with what was seen', async () => {
    const { renewals, open } = start();
    open('req_1');
    await vi.advanceTimersByTimeAsync(26_000);
    expect(renewals.map(({ atMs }) => Math.floor(atMs / 1_000))).toEqual([5, 15, 25]);
    expect(renewals[0]).toMatchObject({ requestId: 'req_1', seenMicros: 3, leaseMs: 60_000 });
  });

  it('are renewed in time although the clock is set back', async () => {
    const { renewals, open } = start();
    open('req_1');
    await vi.advanceTimersByTimeAsync(6_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    open('req_2');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(renewals.map(({ requestId }) => requestId)).toEqual(['req_1', 'req_1']);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(renewals.map(({ requestId }) => requestId).sort()).toEqual([
      ...['req_1', 'req_1', 'req_1'],
      'req_2',
    ]);
  });

  it('are not renewed once they have ended', async () => {
    const { renewals, open, holds } = start();
    const close = open('req_1');
    close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(renewals).toEqual([]);
    expect(holds.count).toBe(0);
  });

  it.each(['revoked', 'suspended'] as const)(
    'stop, once, when a renewal tells: %s',
    async (why) => {
      const { open, stopped, holds } = start(() => why);
      open('req_1');
      await vi.advanceTimersByTimeAsync(60_000);
      expect(stopped).toEqual([`req_1 ${why}`]);
      expect(holds.count).toBe(0);
    },
  );

  it('go on when their lease had run out', async () => {
    const { open, stopped, holds } = start(() => 'gone');
    open('req_1');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stopped).toEqual([]);
    expect(holds.count).toBe(1);
  });

  it.each([
    ['active', 5_000],
    ['gone', 0],
    [new Error('Command timed out'), 0],
  ] as const)('know when the store last knew of them: after %s', async (answer, afterMs) => {
    const { open, renewals } = start(() => answer);
    open('req_1');
    await vi.advanceTimersByTimeAsync(16_000);
    expect(renewals[0]).toMatchObject({ atMs: 5_000, lastKnownMs: 0 });
    expect(renewals.at(-1)).toMatchObject({ lastKnownMs: afterMs });
  });

  it('go on while the store is away, and are renewed as soon as it is back', async () => {
    let isAway = true;
    const { open, stopped, renewals } = start(() =>
      isAway ? new Error('Command timed out') : 'active',
    );
    open('req_1');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(stopped).toEqual([]);
    const before = renewals.length;
    isAway = false;
    await vi.advanceTimersByTimeAsync(1_500);
    expect(renewals.length).toBe(before + 1);
  });

  it('of one key stop when it is revoked, and no others', async () => {
    const { holds, open, stopped } = start();
    open('req_1');
    open('req_2', { keyId: 'key2' });
    holds.stop((hold) => hold.keyId === 'key1', 'revoked');
    expect(stopped).toEqual(['req_1 revoked']);
    expect(holds.count).toBe(1);
  });

  it('are all renewed at once when word of a change may have been missed', async () => {
    const { holds, open, renewals } = start();
    for (let i = 0; i < 1_000; i++) open(`req_${i}`);
    holds.renewAll();
    await vi.advanceTimersByTimeAsync(1_100);
    expect(new Set(renewals.map(({ requestId }) => requestId)).size).toBe(1_000);
  });

  it('ask for no more than 256 renewals at a time', async () => {
    let inFlight = 0;
    let inFlightMax = 0;
    const holds = createOpenHolds({
      async renew() {
        inFlight++;
        inFlightMax = Math.max(inFlightMax, inFlight);
        await new Promise((resolve) => setTimeout(resolve, 600));
        inFlight--;
        return 'active';
      },
      clock: { nowMs: () => Date.now() },
      log: createMemoryLog(),
    });
    for (let i = 0; i < 600; i++) {
      holds.open({
        bucket: 1,
        accountId: 'a',
        keyId: 'k',
        requestId: `req_${i}`,
        extras: '',
        month: '202611',
        model: 'm',
        heldMicros: 1,
        lastKnownMs: 0,
        seenMicros: () => 0,
        stop: () => {},
      });
    }
    await vi.advanceTimersByTimeAsync(9_000);
    expect(inFlightMax).toBe(256);
  });
});
