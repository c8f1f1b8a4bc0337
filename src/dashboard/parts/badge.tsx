import { formatName } from '../format.ts';

type Tone = 'good' | 'warning' | 'bad' | 'neutral';

/** Words for states of accounts, keys, workers, upstreams (a breaker that is closed lets through) and Redis; the rest is neutral. */
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

/** A state as a word; its colour only repeats it. */
export function Badge({ state }: { readonly state: string }) {
  return <span class={`badge ${TONES[state] ?? 'neutral'}`}>{formatName(state)}</span>;
}
