import type { Clock } from '../lib/clock.ts';
import { createHealth, type Health, type HealthState } from './health.ts';

/** `down`: it does not answer who asks it directly, whatever its calls tell. */
export type UpstreamHealth = HealthState | 'down';

/** One upstream as all models share it. */
export interface UpstreamSlots {
  readonly name: string;
  readonly health: Health;
  readonly concurrencyMax: number;
  inFlight: number;
  isDown: boolean;
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
  return { name, concurrencyMax, health: createHealth(time), inFlight: 0, isDown: false };
}

export function isReady(slots: UpstreamSlots): boolean {
  return slots.inFlight < slots.concurrencyMax && canEnter(slots);
}

/** Whether it may be called, if it has a place. */
export function canEnter({ health, isDown }: UpstreamSlots): boolean {
  return !isDown && health.canEnter();
}

export function setDown(slots: UpstreamSlots, isDown: boolean): void {
  if (slots.isDown && !isDown) slots.health.revive();
  slots.isDown = isDown;
}

export function readHealth({ health, isDown }: UpstreamSlots): UpstreamHealth {
  return isDown ? 'down' : health.state();
}
