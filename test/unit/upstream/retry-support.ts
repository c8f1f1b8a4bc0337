import { vi } from 'vitest';
import type { StopSignal } from '../../../src/lib/time/stop-signal.ts';
import type {
  AnswerPart,
  Infer,
  InferenceCall,
  InferenceEvent,
} from '../../../src/protocol/inference.ts';
import type { Try } from '../../../src/protocol/try.ts';
import { createRetryBudget } from '../../../src/routing/retry-budget.ts';
import { createRouter, type ModelRoute } from '../../../src/routing/router.ts';
import { createWaitingRoom } from '../../../src/routing/waiting-room.ts';
import { inferWithRetries } from '../../../src/upstream/infer-with-retries.ts';
import { createRandom } from '../../../src/upstream/simulated/random.ts';
import { ask, createCall } from './simulated-support.ts';

export const MODEL = 'llm-haiku-4.5';

/**
 * What an upstream does with one call: it sends so many events, then fails, ends or falls silent.
 */
export interface Act {
  readonly events: number;
  readonly last: Error | 'end' | 'silence';
}

export const WELL: Act = { events: 3, last: 'end' };
export const failWith = (last: Error, events = 0): Act => ({ events, last });

export interface TestUpstream extends Partial<ModelRoute> {
  readonly concurrencyMax?: number;
  /** One act for each call. The last one serves all further calls. */
  readonly acts: readonly Act[];
}

interface Options {
  readonly burstMax?: number;
  readonly share?: number;
  readonly waitersPerModelMax?: number;
  readonly random?: () => number;
}

/**
 * Upstreams by name, under fake timers. The index of an event is the index of its call, so that it
 * tells where the event comes from.
 */
export function createStage(
  upstreams: Readonly<Record<string, TestUpstream>>,
  { burstMax = 100, share = 0.2, waitersPerModelMax = 10, random }: Options = {},
) {
  const draw = random ?? createRandom('retry');
  const calls: string[] = [];
  const ends: (readonly Try[])[] = [];
  const running = new Set<number>();
  const entries = Object.entries(upstreams);
  const router = createRouter({
    routes: new Map([
      [
        MODEL,
        entries.map(([upstream, { weight = 1, priority = 1 }]) => ({ upstream, weight, priority })),
      ],
    ]),
    upstreams: entries.map(([name, { concurrencyMax = 100 }]) => ({ name, concurrencyMax })),
    clock: { nowMs: () => Date.now() },
    random: draw,
  });
  const createInfer = (name: string, { acts }: TestUpstream): Infer => {
    let called = 0;
    return async function* infer({ signal }): AsyncGenerator<AnswerPart> {
      const act = acts[Math.min(called, acts.length - 1)] ?? WELL;
      called += 1;
      calls.push(name);
      const index = calls.length;
      running.add(index);
      try {
        for (let n = 0; n < act.events; n += 1) {
          yield { events: [{ type: 'block_stop', index }], contentBytes: 0, bytes: undefined };
        }
        if (act.last instanceof Error) throw act.last;
        if (act.last === 'silence') await untilAborted(signal);
      } finally {
        running.delete(index);
      }
    };
  };
  const infer = inferWithRetries({
    room: createWaitingRoom({ router, waitersPerModelMax }),
    upstreams: new Map(entries.map(([name, each]) => [name, createInfer(name, each)])),
    withoutPdfs: () => new Set(),
    withoutStops: new Set(),
    thinkingFor: () => new Map(),
    budget: createRetryBudget({ share, burstMax }),
    onTries: (tries) => ends.push(tries),
    random: draw,
  });
  return { infer, router, calls, ends, running };
}

function untilAborted(signal: StopSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

export interface Result {
  readonly events: InferenceEvent[];
  /** Undefined while the call runs. */
  end: 'done' | { readonly error: unknown } | undefined;
}

/** Asks and collects what comes, without waiting for it. */
export function run(infer: Infer, signal: AbortSignal = new AbortController().signal): Result {
  const result: Result = { events: [], end: undefined };
  const call: InferenceCall = createCall(ask('Hello'), { model: MODEL, signal });
  const collect = async () => {
    for await (const { events } of infer(call)) result.events.push(...events);
  };
  collect().then(
    () => {
      result.end = 'done';
    },
    (error: unknown) => {
      result.end = { error };
    },
  );
  return result;
}

export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Longer than all pauses and waits of one call together. */
export const PATIENCE_MS = 60_000;

export async function finish(infer: Infer): Promise<Result> {
  const result = run(infer);
  await pass(PATIENCE_MS);
  return result;
}

export function errorOf({ end }: Result): unknown {
  return end === undefined || end === 'done' ? undefined : end.error;
}
