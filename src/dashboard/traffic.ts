import { signal } from '@preact/signals';
import { listenToEvents } from './api/events.ts';
import type { Sample } from './sample.ts';

/** Five minutes, at one summary a second. */
const TRAFFIC_SECONDS_MAX = 300;

/**
 * What the node reported since the operator signed in, the oldest first. It outlives the page that
 * shows it.
 */
export const traffic = signal<readonly Sample[]>([]);

/** Starts to collect; returns a function that stops it. */
export function startTraffic(): () => void {
  traffic.value = [];
  return listenToEvents(({ event, data }) => {
    if (event !== 'summary') return;
    traffic.value = [...traffic.value, { ...data, atMs: Date.now() }].slice(-TRAFFIC_SECONDS_MAX);
  });
}
