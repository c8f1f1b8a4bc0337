import { formatName } from '../format.ts';

type Tone = 'good' | 'warning' | 'bad' | 'neutral';

/**
 * The tones of the states of accounts, keys, workers, upstreams and Redis. A closed breaker lets
 * requests through. Other states are neutral.
 */
const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  listening: 'good',
  up: 'good',
  closed: 'good',
  starting: 'warning',
  draining: 'warning',
  paused: 'warning',
  'half-open': 'warning',
  suspended: 'warning',
  open: 'bad',
  out: 'bad',
  down: 'bad',
  revoked: 'bad',
  expired: 'bad',
};

/** Shows a state as a word; the colour only repeats it. */
export function Badge({ state }: { readonly state: string }) {
  return <span class={`badge ${TONES[state] ?? 'neutral'}`}>{formatName(state)}</span>;
}
