import type { PublishEvent } from '../ops/event-hub.ts';
import type { UpstreamHealth } from '../routing/shared-upstream.ts';

export interface UpstreamEvents {
  /** To be called when a worker has reported the health of its upstreams. */
  look(): void;
}

interface UpstreamEventsOptions {
  /** The upstreams of the settings in use. */
  readonly names: () => readonly string[];
  /** See `readUpstreamHealth`. */
  readonly readHealth: (name: string) => UpstreamHealth | undefined;
}

/**
 * Publishes an event when the worst health that the workers report of an upstream changes. An
 * upstream counts as `closed` until a worker reports it.
 */
export function createUpstreamEvents(
  publish: PublishEvent,
  { names, readHealth }: UpstreamEventsOptions,
): UpstreamEvents {
  let published = new Map<string, UpstreamHealth>();
  return {
    look() {
      const seen = new Map<string, UpstreamHealth>();
      for (const upstream of names()) {
        const before = published.get(upstream) ?? 'closed';
        const state = readHealth(upstream) ?? before;
        seen.set(upstream, state);
        if (state !== before) publish({ type: 'upstream', data: { upstream, state, before } });
      }
      published = seen;
    },
  };
}
