import type { Clock } from '../lib/time/clock.ts';
import { createHealth, type Health, type HealthState } from './health.ts';
import { createRest, type Rest } from './rest.ts';

/**
 * `paused`: it is well, but asked for a pause for at least one of its models.
 *
 * `down`: it does not answer its probe, whatever its calls show.
 */
export type UpstreamHealth = HealthState | 'paused' | 'down';

/** One upstream as all models share it. */
export interface SharedUpstream {
  readonly name: string;
  readonly health: Health;
  readonly concurrencyMax: number;
  inFlight: number;
  isDown: boolean;
  /** The pauses of its models. */
  readonly pauses: Rest[];
}

export interface UpstreamLimits {
  readonly name: string;
  /** The limit of this process alone. */
  readonly concurrencyMax: number;
}

export function createSharedUpstream(
  { name, concurrencyMax }: UpstreamLimits,
  time: { readonly clock: Clock; readonly random: () => number },
): SharedUpstream {
  return {
    name,
    concurrencyMax,
    health: createHealth(time),
    inFlight: 0,
    isDown: false,
    pauses: [],
  };
}

export function createPause({ pauses }: SharedUpstream, clock: Clock): Rest {
  const pause = createRest(clock);
  pauses.push(pause);
  return pause;
}

/** A pause that no model asks about any more. */
export function dropPause({ pauses }: SharedUpstream, pause: Rest): void {
  const place = pauses.indexOf(pause);
  if (place >= 0) pauses.splice(place, 1);
}

export function setDown(shared: SharedUpstream, isDown: boolean): void {
  if (shared.isDown && !isDown) shared.health.revive();
  shared.isDown = isDown;
}

export function readHealth({ health, isDown, pauses }: SharedUpstream): UpstreamHealth {
  if (isDown) return 'down';
  const state = health.state();
  return state === 'closed' && pauses.some((pause) => pause.leftMs() > 0) ? 'paused' : state;
}

/** The time until all of its models can be asked again. */
export function readRestMs({ health, pauses }: SharedUpstream): number {
  return Math.max(health.restMs(), ...pauses.map((pause) => pause.leftMs()));
}
