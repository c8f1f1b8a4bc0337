import { formatName } from '../format.ts';

export type Tone = 'good' | 'warning' | 'bad' | 'neutral';

/**
 * The tones of the states of accounts, keys, nodes, workers, upstreams and Redis. A closed
 * breaker lets requests through. Other states are neutral.
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
  differs: 'warning',
  open: 'bad',
  out: 'bad',
  down: 'bad',
  revoked: 'bad',
  expired: 'bad',
  gone: 'bad',
};

interface BadgeProps {
  readonly state: string;
  /** For a state that means another thing elsewhere. */
  readonly tone?: Tone | undefined;
}

/** Shows a state as a word; the colour only repeats it. */
export function Badge({ state, tone = TONES[state] ?? 'neutral' }: BadgeProps) {
  return <span class={`badge ${tone}`}>{formatName(state)}</span>;
}
