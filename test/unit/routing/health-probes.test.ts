import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTestHealth } from './routing-support.ts';

describe('a failed upstream', () => {
  it('gets one probe at a time when its pause is over', () => {
    const { health, pause, time, open } = createTestHealth();
    open();
    time.nowMs += health.restMs();
    expect(health.state()).toBe('half-open');
    expect(health.canEnter()).toBe(true);
    health.enter(pause);
    expect(health.canEnter()).toBe(false);
  });

  it('is not closed to all others for as long as one probe runs', () => {
    const { health, pause, time, open } = createTestHealth();
    open();
    time.nowMs += health.restMs();
    const first = health.enter(pause);
    time.nowMs += 2_000;
    expect(health.canEnter()).toBe(true);
    const second = health.enter(pause);
    expect(health.canEnter()).toBe(false);
    health.leave(first, 'ignored');
    expect(health.canEnter()).toBe(false);
    health.noteFirstEvent(second);
    expect(health.state()).toBe('closed');
  });

  it('is left alone again by the first probe that fails, whatever becomes of the others', () => {
    const { health, pause, time, open } = createTestHealth();
    open();
    time.nowMs += health.restMs();
    const first = health.enter(pause);
    time.nowMs += 2_000;
    const second = health.enter(pause);
    health.leave(second, 'failed');
    expect(health.state()).toBe('open');
    health.noteFirstEvent(first);
    expect(health.state()).toBe('open');
  });

  it('is back at the first event of the probe', () => {
    const { health, pause, time, open } = createTestHealth();
    open();
    time.nowMs += health.restMs();
    const probe = health.enter(pause);
    health.noteFirstEvent(probe);
    expect(health.state()).toBe('closed');
    expect(health.canEnter()).toBe(true);
  });

  it('is not held to what it did before, once it is back', () => {
    const { health, time, call, open } = createTestHealth();
    for (let n = 0; n < 9; n += 1) {
      call('ok');
      call('failed');
    }
    call('ok');
    open();
    time.nowMs += health.restMs();
    call('ok');
    call('failed');
    expect(health.state()).toBe('closed');
  });

  it('gets another probe at once when nobody learnt anything from the last', () => {
    const { health, time, call, open } = createTestHealth();
    open();
    time.nowMs += health.restMs();
    expect(call('ignored')).toBe(true);
    expect(health.canEnter()).toBe(true);
  });

  it('pauses for longer after each failed probe, up to ten seconds', () => {
    const { health, time, call, open } = createTestHealth(() => 1);
    open();
    const pauses: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      pauses.push(health.restMs());
      time.nowMs += health.restMs();
      call('failed');
    }
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
  });

  it('pauses for longer when it fails again soon after it came back, but not much later', () => {
    const { health, time, call, fail, open } = createTestHealth(() => 1);
    open();
    time.nowMs += health.restMs();
    call('ok');
    fail(5);
    expect(health.restMs()).toBe(1_000);
    time.nowMs += 1_000;
    call('ok');
    time.nowMs += 10_000;
    fail(5);
    expect(health.restMs()).toBe(500);
  });

  it('draws its pause, so that workers do not probe in step', () => {
    for (const [random, pauseMs] of [
      [0, 250],
      [0.5, 375],
      [1, 500],
    ] as const) {
      const { health, open } = createTestHealth(() => random);
      open();
      expect(health.restMs()).toBe(pauseMs);
    }
  });

  it('is not judged by what began before it was left alone', () => {
    const { health, pause, time, open, fail, call } = createTestHealth();
    const early = [health.enter(pause), health.enter(pause), health.enter(pause)] as const;
    open();
    health.noteFirstEvent(early[0]);
    health.leave(early[0], 'ok');
    expect(health.state()).toBe('open');
    time.nowMs += health.restMs();
    health.leave(early[1], 'failed');
    expect(health.state()).toBe('half-open');
    call('ok');
    fail(4);
    health.leave(early[2], 'failed');
    expect(health.state()).toBe('closed');
  });

  it('does not stay away when the clock is set back', () => {
    const { health, pause, time, open } = createTestHealth();
    open();
    time.nowMs -= 3_600_000;
    expect(health.canEnter()).toBe(true);
    health.enter(pause);
    time.nowMs -= 3_600_000;
    expect(health.canEnter()).toBe(true);
  });
});

it('lets no more than the probes through to a dead upstream, and never stops probing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 400 }),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
        minLength: 1,
        maxLength: 20,
      }),
      (gapsMs, draws) => {
        let drawn = 0;
        const { health, time, call, open } = createTestHealth(
          () => draws[drawn++ % draws.length] ?? 0,
        );
        open();
        const openedMs = time.nowMs;
        let pauseMaxMs = 500;
        let lastMs = openedMs;
        for (const gapMs of gapsMs) {
          time.nowMs += gapMs;
          const sinceMs = time.nowMs - lastMs;
          if (call('failed')) {
            expect(sinceMs).toBeGreaterThanOrEqual(pauseMaxMs / 2);
            lastMs = time.nowMs;
            pauseMaxMs = Math.min(2 * pauseMaxMs, 10_000);
          } else {
            expect(sinceMs).toBeLessThan(pauseMaxMs);
          }
          expect(health.restMs()).toBeLessThanOrEqual(10_000);
        }
      },
    ),
  );
});
