import type { Clock } from '../lib/clock.ts';
import { createHealth, type Health } from './health.ts';

/** One upstream as all models share it. */
export interface UpstreamSlots {
  readonly name: string;
  readonly health: Health;
  readonly concurrencyMax: number;
  inFlight: number;
}

export interface UpstreamLimits {
  readonly name: string;
  /** Of this process alone. */
  readonly concurrencyMax: number;
}

export function createUpstreamSlots(
  { name, concurrencyMax }: UpstreamLimits,
  time: { readonly clock: Clock; readonly random: () => number },
): UpstreamSlots {
  return { name, concurrencyMax, health: createHealth(time), inFlight: 0 };
}

export function isReady({ health, inFlight, concurrencyMax }: UpstreamSlots): boolean {
  return inFlight < concurrencyMax && health.canEnter();
}
