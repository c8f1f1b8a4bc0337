import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { token } from './session.ts';

const isVisible = signal(isPageVisible());
document.addEventListener('visibilitychange', () => {
  isVisible.value = isPageVisible();
});

export const isSignedIn = computed(() => token.value !== undefined);

/** Whether somebody who is signed in can see the page. */
export const isWatched = computed(() => isVisible.value && isSignedIn.value);

/** Resolves as soon as this is true, or the signal is aborted. */
export function untilTrue(state: ReadonlySignal<boolean>, ending: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (state.peek() || ending.aborted) return resolve();
    const done = () => {
      stop();
      ending.removeEventListener('abort', done);
      resolve();
    };
    const stop = state.subscribe((isTrue) => {
      if (isTrue) done();
    });
    ending.addEventListener('abort', done);
  });
}

/** Aborts as soon as this is false. Call `release` when it is needed no longer. */
export function abortUnless(state: ReadonlySignal<boolean>): {
  readonly signal: AbortSignal;
  readonly release: () => void;
} {
  const aborting = new AbortController();
  const release = state.subscribe((isTrue) => {
    if (!isTrue) aborting.abort();
  });
  return { signal: aborting.signal, release };
}

function isPageVisible(): boolean {
  return document.visibilityState === 'visible';
}
