import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type StopSignal, StopSource } from '../../../../src/lib/time/stop-signal.ts';

const REASON = new Error('enough');

type Step = readonly ['add' | 'remove', number] | readonly ['abort'];

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constantFrom('add' as const, 'remove' as const), fc.nat(4)),
    },
    { weight: 1, arbitrary: fc.constant(['abort'] as const) },
  ),
  { maxLength: 20 },
);

/**
 * What listeners hear, and what the signal says after each step. A listener is added at most once.
 */
function follow(signal: StopSignal, abort: () => void, all: readonly Step[]): unknown[] {
  const heard: unknown[] = [];
  const listeners = [0, 1, 2, 3, 4].map((name) => () => heard.push(name));
  const added = new Set<number>();
  for (const [what, name = 0] of all) {
    const listener = listeners[name] as () => void;
    if (what === 'abort') abort();
    else if (what === 'remove') signal.removeEventListener('abort', listener);
    else if (!added.has(name)) signal.addEventListener('abort', listener);
    if (what === 'add') added.add(name);
    if (what === 'remove') added.delete(name);
    heard.push([signal.aborted, signal.reason]);
  }
  if (signal.aborted) expect(() => signal.throwIfAborted()).toThrow(REASON);
  else signal.throwIfAborted();
  return heard;
}

it('a stop signal tells its listeners what that of an AbortController would tell them', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const source = new StopSource();
      const controller = new AbortController();
      expect(follow(source, () => source.abort(REASON), all)).toEqual(
        follow(controller.signal, () => controller.abort(REASON), all),
      );
    }),
  );
});
