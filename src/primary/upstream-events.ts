import type { EventHub } from '../ops/event-hub.ts';
import type { UpstreamHealth } from '../routing/upstream-slots.ts';

export interface UpstreamEvents {
  /** A worker has told how upstreams are. */
  look(): void;
}

interface UpstreamEventsOptions {
  /** Of the settings in use. */
  readonly names: () => readonly string[];
  /** The worst over the workers; undefined while none has told. */
  readonly readHealth: (name: string) => UpstreamHealth | undefined;
}

/** Tells when the worst that the workers see of an upstream changes. Until one of them tells, it is `closed`. */
export function createUpstreamEvents(
  hub: Pick<EventHub, 'publish'>,
  { names, readHealth }: UpstreamEventsOptions,
): UpstreamEvents {
  let told = new Map<string, UpstreamHealth>();
  return {
    look() {
      const seen = new Map<string, UpstreamHealth>();
      for (const upstream of names()) {
        const before = told.get(upstream) ?? 'closed';
        const state = readHealth(upstream) ?? before;
        seen.set(upstream, state);
        if (state !== before) hub.publish({ type: 'upstream', data: { upstream, state, before } });
      }
      told = seen;
    },
  };
}
