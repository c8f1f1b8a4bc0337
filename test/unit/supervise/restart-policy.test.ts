import { describe, expect, it } from 'vitest';
import {
  decideRestart,
  SHORT_LIVES_MAX,
  STABLE_AFTER_MS,
} from '../../../src/supervise/restart-policy.ts';

describe('the restart policy', () => {
  it('waits twice as long after each short life, and gives up after the last', () => {
    const delays: number[] = [];
    let shortLives = 0;
    for (;;) {
      const decision = decideRestart(STABLE_AFTER_MS - 1, shortLives);
      if (decision.kind === 'give-up') break;
      delays.push(decision.delayMs);
      shortLives = decision.shortLives;
    }
    expect(delays).toEqual([100, 200, 400, 800, 1_600]);
    expect(delays).toHaveLength(SHORT_LIVES_MAX - 1);
  });

  it('forgets short lives after a long one, and replaces at once', () => {
    expect(decideRestart(STABLE_AFTER_MS, SHORT_LIVES_MAX - 1)).toEqual({
      kind: 'restart',
      delayMs: 0,
      shortLives: 0,
    });
  });
});
