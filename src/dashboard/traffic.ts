import { signal } from '@preact/signals';
import type { NodeEvent } from '../ops/schemas/event-schemas.ts';
import { listenToEvents } from './api/events.ts';
import { type Sample, toSample } from './sample.ts';

/** Five minutes, at one summary a second. */
const TRAFFIC_SECONDS_MAX = 300;

/**
 * What all nodes together reported since the operator signed in, the oldest first. It outlives the
 * page that shows it.
 */
export const traffic = signal<readonly Sample[]>([]);

/** Starts to collect; returns a function that stops it. */
export function startTraffic(): () => void {
  traffic.value = [];
  return listenToEvents((event) => {
    traffic.value = addSummary(traffic.value, event);
  });
}

/** Returns the samples with that of the event, if it is a summary. */
export function addSummary(samples: readonly Sample[], event: NodeEvent): readonly Sample[] {
  if (event.event !== 'summary') return samples;
  return [...samples, toSample(event.data, Date.now())].slice(-TRAFFIC_SECONDS_MAX);
}
