import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAsker } from '../create-asker.ts';
import {
  ACCOUNT,
  KEY,
  NOW_MS,
  openScripts,
  redisKeys,
  requestNumber,
  WINDOW_MS,
} from '../open-scripts.ts';

const scripts = openScripts();
const { ask, askAll, logOf } = createAsker(scripts);

/**
 * First time passes and the limit is set, then these requests arrive in one turn of the event loop.
 */
interface Step {
  readonly passedMs: number;
  readonly rpm: number;
  readonly asked: number;
  readonly isLogLost: boolean;
}

const stepsOf = (isLogLost: fc.Arbitrary<boolean>) =>
  fc.array(
    fc.record({
      passedMs: fc.oneof(
        fc.constantFrom(0, 1, 59_999, 60_000, 60_001),
        fc.integer({ min: 0, max: 30_000 }),
      ),
      rpm: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(60)),
      asked: fc.integer({ min: 0, max: 40 }),
      isLogLost,
    }),
    { minLength: 1, maxLength: 25 },
  );

/**
 * Returns the reply to each request, and the reply that a plain list of all earlier admissions
 * would give.
 */
async function live(steps: readonly Step[]) {
  await scripts.send('flushall');
  await scripts.setAccount({ status: 'active', plan: 'team', balance: 0, version: 1 });
  await scripts.setKey({ status: 'active', account: ACCOUNT, digest: 'digest', version: 1 });
  const told: { readonly wait: number; readonly expected: number; readonly atMs: number }[] = [];
  const admitted: number[] = [];
  let requests = 0;
  let nowMs = NOW_MS;
  for (const { passedMs, rpm, asked, isLogLost } of steps) {
    nowMs += passedMs;
    await scripts.setClock(nowMs);
    await scripts.setKey({ rpm });
    if (isLogLost) await scripts.send('del', redisKeys.accountLog(KEY));
    const orders = Array.from({ length: asked }, () => {
      requests += 1;
      return { requestId: requestNumber(requests), holdMicros: 0 };
    });
    for (const reply of await scripts.admitTogether(orders)) {
      const wait = reply.kind === 'rate' ? reply.waitMs : 0;
      if (wait === 0) expect(reply.kind).toBe('admitted');
      const oldest = admitted.at(-rpm);
      const expected = oldest === undefined ? 0 : Math.max(0, oldest + WINDOW_MS - nowMs);
      told.push({ wait, expected, atMs: nowMs });
      if (wait === 0) admitted.push(nowMs);
    }
  }
  return { told, nowMs };
}

describe('a window that is used in any way', () => {
  it('is exact, whatever its limit becomes and whenever its times expire', async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf(fc.constant(false)), async (steps) => {
        for (const { wait, expected } of (await live(steps)).told) expect(wait).toBe(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('refuses nobody for longer than it has to when its log is lost, and is exact a window later', async () => {
    const later = stepsOf(fc.constant(false)).map((steps) => [
      { passedMs: WINDOW_MS, rpm: 60, asked: 30, isLogLost: false },
      ...steps,
    ]);
    await fc.assert(
      fc.asyncProperty(stepsOf(fc.boolean()), later, async (first, then) => {
        const exactFromMs =
          NOW_MS + WINDOW_MS + first.reduce((sum, step) => sum + step.passedMs, 0);
        for (const { wait, expected, atMs } of (await live([...first, ...then])).told) {
          expect(wait).toBeLessThanOrEqual(expected);
          if (atMs >= exactFromMs) expect(wait).toBe(expected);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('a log that is gone before its record', () => {
  const fill = () => askAll(...Array.from({ length: 40 }, (_, n) => 10 * n));
  const loseLog = () => scripts.send('del', redisKeys.accountLog(ACCOUNT));

  it('counts no more when its times are asked for', async () => {
    await scripts.setKey({ rpm: 60 });
    await fill();
    await scripts.send('del', redisKeys.accountLog(KEY));
    await scripts.setKey({ rpm: 20 });
    expect(await askAll(390, 390, 390, 390, 390)).toEqual([
      ...['3 left', '2 left', '1 left', '0 left', 'key 59610'],
    ]);
  });

  it('counts no more when the times before it have expired', async () => {
    await fill();
    await loseLog();
    expect(await ask(60_070)).toBe('991 left');
    expect(await logOf()).toEqual([320, 330, 340, 350, 360, 370, 380, 390, 60_070]);
  });

  it('begins anew with the next block, and has a life', async () => {
    await fill();
    await loseLog();
    await askAll(...Array.from({ length: 20 }, () => 400));
    expect(await logOf()).toHaveLength(8 + 8 + 20);
    const log = redisKeys.accountLog(ACCOUNT);
    expect(Number(await scripts.send('pttl', log))).toBeGreaterThan(2 * WINDOW_MS);
  });

  it('is gone after the clock of Redis was ahead for a while, and nobody holds more than is counted', async () => {
    await scripts.setAccount({ plan: 'team', balance: 50 });
    await scripts.setKey({ rpm: 60 });
    const ids = Array.from({ length: 40 }, (_, n) => requestNumber(1_000 + n));
    const orders = ids.map((requestId) => ({ requestId, holdMicros: 1 }));
    await scripts.admitTogether(orders);
    await scripts.setClock(NOW_MS + 200_000);
    await scripts.send('del', redisKeys.accountLog(KEY), redisKeys.accountLog(ACCOUNT));
    await scripts.setClock(NOW_MS + 60_000);
    const later = ids.map((requestId) => ({ requestId: `${requestId}x`, holdMicros: 1 }));
    const replies = await scripts.admitTogether(later);
    expect(replies.filter(({ kind }) => kind === 'admitted')).toHaveLength(10);
    expect(await scripts.account()).toMatchObject({ held: '50' });
    expect(await scripts.key()).toMatchObject({ in_flight: '50' });
  });
});
