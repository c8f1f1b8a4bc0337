import { signal } from '@preact/signals';
import type { NodeEvent } from '../../ops/schemas/event-schemas.ts';
import { toProblem } from './api-problem.ts';
import { createEventSplitter } from './event-splitter.ts';
import { fetchAdmin } from './fetch-admin.ts';
import { takeStreamTurn } from './take-stream-turn.ts';
import { abortUnless, isWatched, untilTrue } from './watch.ts';

const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 8_000;
/** A node reports every second, so a node that is silent for this long is gone. */
const SILENCE_MAX_MS = 10_000;

type EventConnection =
  | { readonly state: 'connecting' | 'waiting' | 'open' }
  | { readonly state: 'lost'; readonly reason: string };

export const connection = signal<EventConnection>({ state: 'connecting' });

/**
 * Goes up whenever the stream is open again, or opens late: pages read their lists without
 * waiting for the stream, so what happened before has to be read.
 */
export const reopenings = signal(0);

type Listener = (event: NodeEvent) => void;
const listeners = new Set<Listener>();

/** Calls the listener with each event from now on; returns a function that stops it. */
export function listenToEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Reads the stream of all nodes for all listeners, as long as somebody is signed in. Returns a
 * function that stops it.
 */
export function startEvents(): () => void {
  let isLate = !isWatched.peek();
  return followEvents({
    onEvent: (event) => {
      for (const listener of listeners) listener(event);
    },
    onConnection: (now) => {
      connection.value = now;
      if (now.state === 'connecting') return;
      if (now.state === 'open' && isLate) reopenings.value += 1;
      isLate = true;
    },
  });
}

interface FollowOptions {
  /** The id of one node; without it the events are those of all nodes. */
  readonly node?: string;
  readonly onEvent: Listener;
  readonly onConnection?: (now: EventConnection) => void;
}

/**
 * Follows a stream until the function that it returns is called. A page that nobody sees has no
 * stream, because all windows of a browser share few connections.
 *
 *   connecting ──▶ waiting for a turn ──▶ open ──▶ lost ──▶ (waits, longer each time) ──▶ open
 *                                          │
 *                                          └──▶ unseen ──▶ (until it is seen) ──▶ open
 */
export function followEvents(following: FollowOptions): () => void {
  const stopping = new AbortController();
  following.onConnection?.({ state: 'connecting' });
  void follow(following, stopping.signal);
  return () => stopping.abort();
}

async function follow(following: FollowOptions, stopping: AbortSignal): Promise<void> {
  let retryMs = RETRY_MIN_MS;
  while (!stopping.aborted) {
    await untilTrue(isWatched, stopping);
    const watch = abortUnless(isWatched);
    const ending = AbortSignal.any([stopping, watch.signal]);
    try {
      const onOpen = () => {
        retryMs = RETRY_MIN_MS;
        following.onConnection?.({ state: 'open' });
      };
      const run = () => readStream(following, ending, onOpen);
      const onWait = () => following.onConnection?.({ state: 'waiting' });
      await takeStreamTurn({ run, onWait, ending });
    } catch (cause) {
      if (!ending.aborted) {
        following.onConnection?.({ state: 'lost', reason: toProblem(cause).message });
      }
    } finally {
      watch.release();
    }
    if (ending.aborted) continue;
    await waitFor(retryMs, stopping);
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
  }
}

/** Always ends with an error, because a node ends the stream only when it stops itself. */
async function readStream(
  { node, onEvent }: FollowOptions,
  stopping: AbortSignal,
  onOpen: () => void,
): Promise<never> {
  const silence = new AbortController();
  const signal = AbortSignal.any([stopping, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  try {
    const { body } = await fetchAdmin('/events', { query: { node }, signal });
    if (body === null) throw new Error('no stream');
    onOpen();
    const split = createEventSplitter();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error('the stream ended');
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      for (const event of split(value)) onEvent(event);
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** Ends early if the browser is online again. */
function waitFor(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      stopping.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener('online', done);
    stopping.addEventListener('abort', done);
  });
}
