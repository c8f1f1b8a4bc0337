import type { ShutSpan } from '../support/disturb.ts';
import type { Admitted, ProofEvent } from '../support/event-log.ts';
import type { ProofAccount } from '../support/world.ts';
import type { Report } from './violations.ts';

interface CheckOptions {
  readonly shut: readonly ShutSpan[];
  readonly world: readonly ProofAccount[];
  readonly report: Report;
}

/**
 * No request is admitted that was sent after the reply that its key was revoked or its account
 * suspended.
 */
export function checkShut(events: readonly ProofEvent[], { shut, world, report }: CheckOptions) {
  const byKey = new Map<string, Admitted[]>();
  for (const event of events) {
    if (event.type !== 'admitted') continue;
    const known = byKey.get(event.keyId);
    if (known === undefined) byKey.set(event.keyId, [event]);
    else known.push(event);
  }
  const keysOf = new Map(
    world.map(({ accountId, keys }) => [accountId, keys.map(({ keyId }) => keyId)]),
  );
  for (const { id, fromMs, untilMs } of shut) {
    for (const event of (keysOf.get(id) ?? [id]).flatMap((keyId) => byKey.get(keyId) ?? [])) {
      if (event.askedMs > fromMs && event.repliedMs < untilMs) {
        report('revocation', `${id} was shut: ${JSON.stringify(event)}`);
      }
    }
  }
}
