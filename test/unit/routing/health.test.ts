import { describe, expect, it } from 'vitest';
import { createTestHealth } from './routing-support.ts';

describe('a healthy upstream', () => {
  it('is left alone from the fifth failure in a row', () => {
    const { health, fail } = createTestHealth();
    fail(4);
    expect(health.state()).toBe('closed');
    fail(1);
    expect(health.state()).toBe('open');
    expect(health.canEnter()).toBe(false);
  });

  it('is left alone when it fails for a second, however little it is asked', () => {
    const { health, time, fail } = createTestHealth();
    fail(1);
    time.nowMs += 999;
    fail(1);
    expect(health.state()).toBe('closed');
    time.nowMs += 1;
    fail(1);
    expect(health.state()).toBe('open');
  });

  it('is not judged by one failure, however long ago the last success was', () => {
    const { health, time, fail, call } = createTestHealth();
    fail(1);
    time.nowMs += 5_000;
    call('ok');
    fail(1);
    time.nowMs += 5_000;
    expect(health.state()).toBe('closed');
  });

  it('starts to count again when an answer begins, not only when it ends', () => {
    const { health, pause, fail } = createTestHealth();
    const slow = health.enter(pause);
    fail(4);
    health.noteFirstEvent(slow);
    fail(4);
    expect(health.state()).toBe('closed');
  });

  it('is left alone when half of enough calls within ten seconds fail', () => {
    const { health, time, call } = createTestHealth();
    for (let n = 0; n < 9; n += 1) {
      call('ok');
      call('failed');
      time.nowMs += 1_000;
    }
    call('ok');
    expect(health.state()).toBe('closed');
    call('failed');
    expect(health.state()).toBe('open');
  });

  it('is forgiven failures that are more than ten seconds old', () => {
    const { health, time, call } = createTestHealth();
    for (let n = 0; n < 9; n += 1) {
      call('ok');
      call('failed');
    }
    call('ok');
    time.nowMs += 10_000;
    for (let n = 0; n < 8; n += 1) {
      call('failed');
      call('ok');
    }
    expect(health.state()).toBe('closed');
  });

  it('is left alone when its answers begin and then break off', () => {
    const { health, pause } = createTestHealth();
    for (let n = 0; n < 20; n += 1) {
      expect(health.state()).toBe('closed');
      const pass = health.enter(pause);
      health.noteFirstEvent(pass);
      health.leave(pass, 'failed');
    }
    expect(health.state()).toBe('open');
  });

  it('counts each call once, however much is heard of it', () => {
    const { health, pause, call } = createTestHealth();
    for (let n = 0; n < 10; n += 1) {
      expect(health.state()).toBe('closed');
      const pass = health.enter(pause);
      health.noteFirstEvent(pass);
      health.noteFirstEvent(pass);
      health.leave(pass, 'ok');
      call('failed');
    }
    expect(health.state()).toBe('open');
  });

  it('stays closed while fewer than half of the calls fail', () => {
    const { health, time, call } = createTestHealth();
    for (let n = 0; n < 3_000; n += 1) {
      call(n % 3 === 1 ? 'failed' : 'ok');
      time.nowMs += 5;
    }
    expect(health.state()).toBe('closed');
  });

  it('is not judged by what is ignored', () => {
    const { health, call } = createTestHealth();
    for (let n = 0; n < 100; n += 1) call('ignored');
    expect(health.state()).toBe('closed');
  });

  it('is not cured by what is ignored', () => {
    const { health, call, fail } = createTestHealth();
    fail(4);
    call('ignored');
    fail(1);
    expect(health.state()).toBe('open');
  });
});

describe('an overloaded upstream', () => {
  it('is spared for exactly as long as it asks, and counts as well', () => {
    const { health, pause, time, call } = createTestHealth();
    call('overloaded', 7_000);
    time.nowMs += 6_999;
    expect(pause.leftMs()).toBe(1);
    time.nowMs += 1;
    expect(pause.leftMs()).toBe(0);
    expect(health.state()).toBe('closed');
  });

  it('is left alone for half a minute at most', () => {
    const { pause, call } = createTestHealth();
    call('overloaded', 86_400_000);
    expect(pause.leftMs()).toBe(30_000);
  });

  it('is left alone for the longest of what it asks several calls', () => {
    const { health, pause } = createTestHealth();
    const passes = [health.enter(pause), health.enter(pause)];
    for (const [index, pass] of passes.entries()) {
      health.leave(pass, 'overloaded', index === 0 ? 5_000 : 1_000);
    }
    expect(pause.leftMs()).toBe(5_000);
  });

  it('counts as failing when it does not say for how long', () => {
    const { health, call } = createTestHealth();
    for (let n = 0; n < 5; n += 1) call('overloaded');
    expect(health.state()).toBe('open');
  });

  it('that asks a probe to come back later gets the next one no sooner', () => {
    const { health, time, call, open } = createTestHealth();
    open();
    time.nowMs += health.restMs();
    call('overloaded', 20_000);
    expect(health.restMs()).toBe(20_000);
  });
});
